/**
 * Fetch for authorization servers: guarded, with a deadline, and without redirects, so that codes, tokens and secrets
 * only reach the named URL. The SDK follows redirects of documents itself. Hosts in the record use the toolkit's tier;
 * hosts that servers name use the user tier.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'

export interface OAuthFetches {
  /** For hosts in the record. */
  own: FetchLike
  ownHosts: readonly string[]
  /** For all other hosts. */
  others: FetchLike
}

const DEADLINE_MS = 15_000

export function oauthFetch({ own, ownHosts, others }: OAuthFetches): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input)
    const signals = [AbortSignal.timeout(DEADLINE_MS), ...(init.signal ? [init.signal] : [])]
    const guarded = ownHosts.includes(url.hostname) ? own : others
    const response = await guarded(url, { ...init, signal: AbortSignal.any(signals), redirect: 'manual' })
    const isGet = (init.method ?? 'GET').toUpperCase() === 'GET'
    if (isGet || response.status < 300 || response.status >= 400) return whole(response)
    throw new HostError('sign-in-failed', { detail: 'The authorization server redirects where it must answer.' })
  }
}

/** Buffers the response, because the SDK reads some of them twice. The guard limits their size. */
async function whole(response: Response): Promise<Response> {
  const { status, headers } = response
  const text = await response.text()
  return new Response(text === '' ? null : text, { status, headers: new Headers(headers) })
}
