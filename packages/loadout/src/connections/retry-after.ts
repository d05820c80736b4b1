/** The waits of a piece of work: for a connection, and for a server that asks for time. Who gives up stops waiting. */
import { HostError } from '../errors.ts'
import type { Lease } from './pool/pool.ts'

/** A call that was answered with 429 was not made: where the server's time is short enough, it is waited for. */
export function retryAfterMs(
  error: unknown,
  { maxRetryAfterMs = 0 }: { maxRetryAfterMs?: number | undefined },
): number | undefined {
  if (!HostError.is(error) || error.code !== 'rate-limited' || error.retryAfterMs === undefined) return undefined
  return error.retryAfterMs <= maxRetryAfterMs ? error.retryAfterMs : undefined
}

/** Who gives up while a connection is made does not wait for it; it is there for the next. */
export function abortable(leasing: Promise<Lease>, signal: AbortSignal | undefined): Promise<Lease> {
  if (!signal) return leasing
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(HostError.is(signal.reason) ? signal.reason : new HostError('cancelled'))
      leasing.then((lease) => lease.release()).catch(() => {})
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    leasing.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(new HostError('cancelled'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}
