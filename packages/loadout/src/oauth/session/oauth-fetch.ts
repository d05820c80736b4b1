/**
 * The fetch for everything that sign-in asks of authorization servers: guarded, with a deadline, and following no redirect:
 * what carries a code, a token or a secret is sent to the place that was named, and where documents lead the SDK asks anew.
 * Only the hosts that the toolkit itself names are reached as the toolkit is; what servers name is reached as users' servers
 * are, whoever set the toolkit up.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'

export interface OAuthFetches {
  /** For the hosts that the toolkit names. */
  own: FetchLike
  ownHosts: readonly string[]
  /** For all others. */
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

/** The SDK looks at some answers twice, which only a whole one can be. They are small, and the guard bounds them. */
async function whole(response: Response): Promise<Response> {
  const { status, headers } = response
  const text = await response.text()
  return new Response(text === '' ? null : text, { status, headers: new Headers(headers) })
}
