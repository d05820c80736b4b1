/**
 * The one fetch for everything that leaves: MCP servers, OAuth metadata, client documents, icons. Node only.
 *
 * Each request, and each hop of its redirects, is judged before a connection is made: its URL, every address of its name,
 * and the peer that answered. Answers are bounded in decoded bytes. Errors are `HostError`s; an abort stays the abort's
 * own reason. It runs on kept `node:http` connections because the global fetch is about half of what a call costs the MCP client.
 * Calls may leave by `preparePost`, which is the same without the web's objects: one guard, one set of routes, one limit.
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
  /** Largest body of an answer in decoded bytes; in an event stream, of one event. @default 10 MiB */
  maxResponseBytes?: number
  /** @default 5 */
  maxRedirects?: number
  /** For name, connection and TLS together. @default 10_000 */
  connectTimeoutMs?: number
  /** A proxy for what leaves. It resolves names itself: behind it only literal addresses are judged here. */
  proxy?: ProxySettings
  /** PEM of certificate authorities beside the system's own. */
  ca?: string
  /** Long-lived streams count too, so a limit must leave room for them. @default Infinity */
  maxSocketsPerHost?: number
}

export interface GuardedFetch {
  fetch: FetchLike
  /** The same for what is no answer of a server: metadata, keys, tokens. No more than 10 MiB, whatever servers may send. */
  documents: FetchLike
  /** Throws unless the URL could be asked for: where a person is about to be sent there. */
  assertAllowed(url: URL): Promise<void>
  preparePost: PreparePost
  /** Ends what is under way and closes all connections. */
  close(): Promise<void>
}

const DEFAULT_MAX_RESPONSE_BYTES = 10 * 1024 * 1024
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000
const ACCEPT_ENCODING = 'gzip, deflate, br'
/** What may be done twice. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
/** The connection's own, which a caller has no say in. */
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
      // A name that is not known here may be known where the person is.
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

/** Names and values in turn, the form that costs `node:http` least. */
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
