/**
 * Follows redirects hop by hop, so that each hop is checked like a new request. Another origin gets only neutral
 * headers and never a body, and https never redirects to http.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../../../errors.ts'

export const DEFAULT_MAX_REDIRECTS = 5

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const SAFE_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'mcp-protocol-version',
  'user-agent',
]
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type']

interface Hop {
  url: URL
  init: RequestInit
}

/** Sends the request and follows its redirects. `send` must not follow redirects. */
export async function followRedirects(send: FetchLike, first: Hop, maxRedirects: number): Promise<Response> {
  let hop = first
  for (let hops = 0; ; hops++) {
    const response = await send(hop.url, { ...hop.init, redirect: 'manual' })
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
    if (location === null) return hops === 0 ? response : Object.defineProperty(response, 'redirected', { value: true })
    await response.body?.cancel()
    const to = describeTarget(hop.url, location)
    if (first.init.redirect === 'error') throw failed(hop, `it redirects to ${to}, which the request does not allow.`)
    if (hops === maxRedirects) throw failed(hop, `it redirects more than ${maxRedirects} times, last to ${to}.`)
    hop = nextHop(hop, response.status, location)
  }
}

/**
 * Throws for a redirect to another origin and names the target. MCP transports do not follow it, because the request
 * has a body and credentials.
 */
export function rejectCrossOriginRedirects(fetch: FetchLike): FetchLike {
  return async (input, init) => {
    const response = await fetch(input, init)
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
    const from = URL.parse(String(input))
    if (location === null || from === null || URL.parse(location, from.href)?.origin === from.origin) return response
    await response.body?.cancel().catch(() => {})
    const to = describeTarget(from, location)
    throw new HostError('protocol-error', {
      detail: `${from.origin} redirects to another origin, ${to}, which is not followed.`,
      action: `Set the server's URL to ${to}, if that is the one you mean.`,
    })
  }
}

function nextHop({ url, init }: Hop, status: number, location: string): Hop {
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined
  if (!target) throw failed({ url }, 'it redirects to what is no URL.')
  if (url.protocol === 'https:' && target.protocol === 'http:') throw refused(url, target, 'from https to plain http')
  const next = changesMethod(init.method?.toUpperCase() ?? 'GET', status) ? withoutBody(init) : init
  if (target.origin === url.origin) {
    if (next.body instanceof ReadableStream) throw failed({ url }, 'it redirects a body that can be sent only once.')
    return { url: target, init: next }
  }
  if (next.body !== undefined && next.body !== null) throw refused(url, target, 'with a body to another origin')
  return { url: target, init: { ...next, headers: safeHeaders(next.headers) } }
}

function changesMethod(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

function withoutBody(init: RequestInit): RequestInit {
  const headers = new Headers(init.headers)
  for (const name of BODY_HEADERS) headers.delete(name)
  return { ...init, method: 'GET', body: undefined, headers }
}

function safeHeaders(headers: RequestInit['headers']): Headers {
  const source = new Headers(headers)
  const safe = new Headers()
  for (const name of SAFE_HEADERS) {
    const value = source.get(name)
    if (value !== null) safe.set(name, value)
  }
  return safe
}

function failed({ url }: Pick<Hop, 'url'>, what: string): HostError {
  return new HostError('protocol-error', { detail: `${url.origin}: ${what}` })
}

const MAX_TARGET_LENGTH = 300

/** Omits the query, because it may contain a secret. */
function describeTarget(from: URL, location: string): string {
  const target = URL.parse(location, from.href)
  return target ? `\`${`${target.origin}${target.pathname}`.slice(0, MAX_TARGET_LENGTH)}\`` : 'what is no URL'
}

function refused(from: URL, to: URL, what: string): HostError {
  return new HostError('address-blocked', {
    detail: `${from.origin} redirects ${what}, to ${describeTarget(from, to.href)}, which is refused.`,
    action: `Set the server's URL to ${describeTarget(from, to.href)}, if that is the one you mean.`,
  })
}
