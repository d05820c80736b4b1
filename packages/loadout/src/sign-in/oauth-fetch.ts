/**
 * The fetch for everything that sign-in asks of authorization servers. It is the guarded one, with a deadline; what carries
 * a code, a token or a secret is sent to the place that was named and follows no redirect.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'

const DEADLINE_MS = 15_000

export function oauthFetch(guarded: FetchLike): FetchLike {
  return async (input, init = {}) => {
    const signals = [AbortSignal.timeout(DEADLINE_MS), ...(init.signal ? [init.signal] : [])]
    const signal = AbortSignal.any(signals)
    if ((init.method ?? 'GET').toUpperCase() === 'GET') return whole(await guarded(input, { ...init, signal }))
    const response = await guarded(input, { ...init, signal, redirect: 'manual' })
    if (response.status < 300 || response.status >= 400) return whole(response)
    throw new HostError('sign-in-failed', { detail: 'The authorization server redirects where it must answer.' })
  }
}

/** The SDK looks at some answers twice, which only a whole one can be. They are small, and the guard bounds them. */
async function whole(response: Response): Promise<Response> {
  const { status, headers } = response
  const text = await response.text()
  return new Response(text === '' ? null : text, { status, headers: new Headers(headers) })
}
