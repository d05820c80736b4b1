/**
 * Guarded fetch for all outgoing requests: MCP servers, OAuth metadata, client documents, icons. Node only.
 *
 * Each request and each redirect is checked before a connection is made: its URL, every address of its name, and the
 * connected peer. Responses are bounded in decoded bytes. Errors are `HostError`s; an abort keeps its own reason. It
 * uses kept-alive `node:http` connections, because the global fetch is about half of the cost of a call. `preparePost`
 * is the fast path with the same guard, routes and limit.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { HostError } from '../../../errors.ts'
import { createPayload, type InFlight, type Payload, sendRequest, simplePayload } from '../client/request.ts'
import type { PreparePost } from '../fast-call/contract.ts'
import { sendPrepared } from '../fast-call/send.ts'
import {
  type AddressGuard,
  type AddressOptions,
  createAddressGuard,
  hostOf,
  isLiteral,
  parseUrl,
} from './address-guard.ts'
import { createRoutes, type Route } from './agents.ts'
import type { GuardedInit } from './guarded-init.ts'
import { type ProxySettings, readProxy } from './proxy.ts'
import { DEFAULT_MAX_REDIRECTS, followRedirects } from './redirects.ts'

export { withOriginHeaders } from '../origin-headers.ts'

export interface GuardOptions extends AddressOptions {
  /** Largest response body in decoded bytes; for an event stream, largest event. @default 10 MiB */
  maxResponseBytes?: number
  /** @default 5 */
  maxRedirects?: number
  /** Milliseconds for DNS, connection and TLS together. @default 10_000 */
  connectTimeoutMs?: number
  /** Outgoing proxy. It resolves names itself, so only literal addresses are checked here. */
  proxy?: ProxySettings
  /** PEM of additional certificate authorities. */
  ca?: string
  /** Long-lived streams count too, so leave room for them. @default Infinity */
  maxSocketsPerHost?: number
}

export interface GuardedFetch {
  fetch: FetchLike
  /** Same fetch for metadata, keys and tokens, limited to 10 MiB. */
  documents: FetchLike
  /** Throws unless a user may be sent to the URL. */
  assertAllowed(url: URL): Promise<void>
  preparePost: PreparePost
  /** Ends running requests and closes all connections. */
  close(): Promise<void>
}

const DEFAULT_MAX_RESPONSE_BYTES = 10 * 1024 * 1024
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000
const ACCEPT_ENCODING = 'gzip, deflate, br'
/** Idempotent methods. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
/** Headers that callers must not set, because the connection sets them. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function createGuardedFetch(options: GuardOptions = {}): GuardedFetch {
  const { maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES, maxRedirects = DEFAULT_MAX_REDIRECTS } = options
  const guard = createAddressGuard(options)
  const routes = createRoutes({
    guard,
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    maxSocketsPerHost: options.maxSocketsPerHost ?? Number.POSITIVE_INFINITY,
    proxy: options.proxy && readProxy(options.proxy),
    ca: options.ca,
  })
  const traffic: InFlight = { closed: false, requests: new Set() }

  const send: FetchLike = async (input, init = {}) => {
    if (traffic.closed) throw new HostError('shutting-down')
    const url = parseUrl(input)
    guard.checkUrl(url)
    const { body } = init
    const payload =
      body === undefined || body === null ? undefined : (simplePayload(body) ?? (await createPayload(body)))
    const method = init.method?.toUpperCase() ?? 'GET'
    const route = routes.to(url)
    const caller = init.headers instanceof Headers ? init.headers : new Headers(init.headers)
    const headers = buildHeaders(caller, { url, route, contentType: payload?.contentType })
    addLength(headers, method, payload)
    const repeatable = REPEATABLE.has(method) || caller.has('idempotency-key')
    const signal = init.signal ?? undefined
    const { onBodyFailure, maxBytes = maxResponseBytes } = init as GuardedInit
    return sendRequest({
      url,
      method,
      headers,
      payload,
      repeatable,
      route,
      signal,
      maxResponseBytes: Math.min(maxBytes, maxResponseBytes),
      traffic,
      onBodyFailure,
    })
  }

  const preparePost: PreparePost = (input, headers) => {
    const url = new URL(input)
    guard.checkUrl(url)
    const route = routes.to(url)
    const fixed = buildHeaders(headers, { url, route })
    const repeatable = headers.has('idempotency-key')
    return sendPrepared({ url, route, headers: fixed, repeatable, maxResponseBytes, traffic })
  }

  const fetch: FetchLike = async (input, init = {}) =>
    init.redirect === 'manual' ? send(input, init) : followRedirects(send, { url: parseUrl(input), init }, maxRedirects)

  return {
    fetch: Object.assign(fetch, { maxRedirects }),
    documents: Object.assign(limitToDocuments(fetch), { maxRedirects }),
    assertAllowed: (url) => assertAllowed(guard, url),
    preparePost,
    async close() {
      traffic.closed = true
      for (const request of traffic.requests) request.destroy()
      routes.close()
    },
  }
}

const limitToDocuments = (guarded: FetchLike): FetchLike => {
  return (input, init) => guarded(input, { ...init, maxBytes: DEFAULT_MAX_RESPONSE_BYTES } as GuardedInit)
}

async function assertAllowed(guard: AddressGuard, url: URL): Promise<void> {
  guard.checkUrl(url)
  const host = hostOf(url)
  if (isLiteral(host)) return
  await new Promise<void>((resolve, reject) => {
    guard.lookup(host, { all: true }, (error) => {
      // A name that does not resolve here may resolve in the user's network.
      if (HostError.is(error)) reject(error)
      else resolve()
    })
  })
}

interface HeaderContext {
  url: URL
  route: Route
  contentType?: string | undefined
}

/** Names and values alternate, which is the fastest form for `node:http`. */
function buildHeaders(caller: Headers, { url, route, contentType }: HeaderContext): string[] {
  const headers = ['host', url.host, ...route.headers]
  caller.forEach((value, name) => {
    if (!CONNECTION_HEADERS.has(name)) headers.push(name, value)
  })
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined && !caller.has(name)) headers.push(name, value)
  }
  add('accept', '*/*')
  add('accept-encoding', ACCEPT_ENCODING)
  add('user-agent', 'loadout')
  add('content-type', contentType)
  return headers
}

function addLength(headers: string[], method: string, payload: Payload | undefined): void {
  const data = payload?.data
  if (typeof data === 'string') headers.push('content-length', String(Buffer.byteLength(data)))
  else if (data instanceof Uint8Array) headers.push('content-length', String(data.length))
  else if (data) headers.push('transfer-encoding', 'chunked')
  else if (method !== 'GET' && method !== 'HEAD') headers.push('content-length', '0')
}
