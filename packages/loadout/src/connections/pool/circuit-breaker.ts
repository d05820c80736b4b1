/**
 * Circuit breaker per server: opens after `MAX_FAILURES` failures in a row, with exponential backoff up to `MAX_MS`.
 */
import { HostError } from '../../errors.ts'

const MAX_FAILURES = 3
const FIRST_MS = 1000
const MAX_MS = 30_000

/** Error codes that trip the circuit breaker. */
export const TRIPS_BREAKER = new Set<string>([
  'server-unreachable',
  'server-timeout',
  'server-crashed',
  'protocol-error',
  'malformed-list',
  'session-lost',
  'spawn-failed',
  'response-too-large',
])

/** After the wait, one attempt is allowed. */
export interface Breaker {
  /** Throws `cooling-down` while the breaker is open. */
  assertClosed(now: number): void
  succeeded(): void
  failed(now: number): void
}

export function createBreaker(random: () => number = Math.random): Breaker {
  let failures = 0
  let openUntil = 0
  return {
    assertClosed(now) {
      if (now >= openUntil) return
      const retryAfterMs = openUntil - now
      throw new HostError('cooling-down', {
        detail: `It failed ${failures} times in a row. The next try is in ${Math.ceil(retryAfterMs / 1000)} s.`,
        retryAfterMs,
      })
    },
    succeeded() {
      failures = 0
      openUntil = 0
    },
    failed(now) {
      failures++
      if (failures < MAX_FAILURES) return
      const wait = Math.min(FIRST_MS * 2 ** (failures - MAX_FAILURES), MAX_MS)
      // Jitter, so that servers that failed together do not retry together.
      openUntil = now + wait * (0.5 + random() / 2)
    },
  }
}
