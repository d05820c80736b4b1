/** Sends secrets only to the origin they belong to; every redirect hop is checked. Also runs in browsers. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { DEFAULT_MAX_REDIRECTS, followRedirects } from './guard/redirects.ts'

/**
 * Returns a fetch that adds `headers` to requests for `origin` only. It keeps headers that the request already has, so
 * that a setting cannot break the protocol.
 */
export function withOriginHeaders(fetch: FetchLike, origin: string, headers: Record<string, string>): FetchLike {
  const home = new URL(origin).origin
  const secrets = Object.entries(headers)
  const maxRedirects = 'maxRedirects' in fetch ? Number(fetch.maxRedirects) : DEFAULT_MAX_REDIRECTS

  const send: FetchLike = (input, init = {}) => {
    const url = typeof input === 'string' ? URL.parse(input) : input
    if (url?.origin !== home) return fetch(input, init)
    const merged = new Headers(init.headers)
    for (const [name, value] of secrets) if (!merged.has(name)) merged.set(name, value)
    return fetch(url, { ...init, headers: merged })
  }
  const following: FetchLike = async (input, init = {}) => {
    const url = typeof input === 'string' ? URL.parse(input) : input
    return url && init.redirect !== 'manual' ? followRedirects(send, { url, init }, maxRedirects) : send(input, init)
  }
  return Object.assign(following, { maxRedirects })
}
