/** Abortable waits: for a pooled connection, and for `Retry-After`. */

import { HostError } from '../errors.ts'
import { onAbort, sleep } from '../util/abort.ts'
import type { Lease } from './pool/pool.ts'

/** A 429 means that the call did not run. Returns the wait if it is at most `maxRetryAfterMs`. */
export function retryAfterMs(
  error: unknown,
  { maxRetryAfterMs = 0 }: { maxRetryAfterMs?: number | undefined },
): number | undefined {
  if (!HostError.is(error) || error.code !== 'rate-limited' || error.retryAfterMs === undefined) return undefined
  return error.retryAfterMs <= maxRetryAfterMs ? error.retryAfterMs : undefined
}

/** An abort stops the wait; the connection still opens for the next lease. */
export function abortable(leasing: Promise<Lease>, signal: AbortSignal | undefined): Promise<Lease> {
  if (!signal) return leasing
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => {
      reject(HostError.is(signal.reason) ? signal.reason : new HostError('cancelled'))
      leasing.then((lease) => lease.release()).catch(() => {})
    })
    leasing.then(resolve, reject).finally(stopListening)
  })
}

export async function cancellableSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, { signal, keepAlive: true })
  if (signal?.aborted) throw new HostError('cancelled')
}
