/** Turns a 429 into our error where it still has its headers: the SDK's own error drops Retry-After. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { fromStatus } from './failures.ts'

/** As long as anybody means; who waits decides for themselves how long. */
const MAX_WAIT_MS = 24 * 3_600_000

export function tellRateLimits(fetch: FetchLike): FetchLike {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.status !== 429) return response
    await response.body?.cancel().catch(() => {})
    throw fromStatus(429, undefined, retryAfter(response.headers.get('retry-after')))
  }
}

function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_WAIT_MS)
}
