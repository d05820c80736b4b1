/** The waits of a piece of work: for a connection, and for a server that asks for time. Who gives up stops waiting. */
import { HostError } from '../errors.ts'
import type { Lease } from './pool/pool.ts'

/** A call that was answered with 429 was not made: where the server's time is short enough, it is waited for. */
export function retryAfterMs(
  error: unknown,
  { patienceMs = 0 }: { patienceMs?: number | undefined },
): number | undefined {
  if (!HostError.is(error) || error.code !== 'rate-limited' || error.retryAfterMs === undefined) return undefined
  return error.retryAfterMs <= patienceMs ? error.retryAfterMs : undefined
}

/** Who gives up while a connection is made does not wait for it; it is there for the next. */
export function abortable(leasing: Promise<Lease>, signal: AbortSignal | undefined): Promise<Lease> {
  if (!signal) return leasing
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(HostError.is(signal.reason) ? signal.reason : new HostError('cancelled'))
      leasing.then((lease) => lease.release()).catch(() => {})
    }
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    leasing.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = () => {
      clearTimeout(timer)
      reject(new HostError('cancelled'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', cancel)
      resolve()
    }, ms)
    if (signal?.aborted) cancel()
    else signal?.addEventListener('abort', cancel, { once: true })
  })
}
