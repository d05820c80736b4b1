/**
 * `fetch` of a custom tool: only to hosts that the tool declares and the operator allows, checked on every redirect,
 * through the SSRF guard of user servers. Private addresses are blocked for all authors.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { GuardedInit } from '../../connections/http/guard/guarded-init.ts'
import { DEFAULT_MAX_REDIRECTS, followRedirects } from '../../connections/http/guard/redirects.ts'
import { HostError } from '../../errors.ts'
import { matchesHost } from '../../schema/host-pattern.ts'
import { type Json, type JsonObject, parse } from '../../schema/json.ts'

/** Max decoded bytes of a response, because program memory holds several copies. */
export const FETCH_BYTES = 2 * 1024 * 1024
const FETCH_MS = 30_000

const request = z.tuple([
  z.string().max(8192),
  z
    .strictObject({
      method: z
        .string()
        .regex(/^[A-Za-z]{1,20}$/, 'must be a method of HTTP')
        .optional(),
      headers: z.array(z.tuple([z.string().max(200), z.string().max(8192)])).max(100),
      body: z.string('must be a text; use JSON.stringify').nullish(),
      redirect: z.enum(['follow', 'error', 'manual']).optional(),
    })
    .optional(),
])

export interface CustomFetchOptions {
  /** Guarded fetch, which checks addresses. */
  send: FetchLike
  /** Hosts of the tool. */
  hosts: readonly string[]
  /** Hosts that the operator allows. */
  allowed: readonly string[]
  signal?: AbortSignal | undefined
}

export async function customFetch(args: readonly Json[], options: CustomFetchOptions): Promise<JsonObject> {
  const [address, init] = parse(request, [...args])
  const url = URL.parse(address)
  if (!url) throw new HostError('invalid-input', { detail: 'fetch takes an absolute URL.' })
  const signal = AbortSignal.any([AbortSignal.timeout(FETCH_MS), ...(options.signal ? [options.signal] : [])])
  const { method = 'GET', headers = [], body, redirect = 'follow' } = init ?? {}
  const sent: GuardedInit = { method, headers: headersOf(headers), redirect, signal, maxBytes: FETCH_BYTES }
  if (body !== undefined && body !== null) sent.body = body
  const guardedSend: FetchLike = (target, hop) => {
    assertHost(new URL(target), options)
    return options.send(target, { ...hop, maxBytes: FETCH_BYTES } as GuardedInit)
  }
  try {
    if (redirect === 'manual') return await read(await guardedSend(url, sent))
    return await read(await followRedirects(guardedSend, { url, init: sent }, DEFAULT_MAX_REDIRECTS))
  } catch (error) {
    throw toHostError(error, url)
  }
}

function headersOf(pairs: [string, string][]): Headers {
  try {
    return new Headers(pairs)
  } catch {
    throw new HostError('invalid-input', { detail: 'A header has a name or a value that HTTP does not take.' })
  }
}

function assertHost(url: URL, { hosts, allowed }: CustomFetchOptions): void {
  const hostPort = { host: url.hostname, port: Number(url.port) || (url.protocol === 'http:' ? 80 : 443) }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new HostError('address-blocked', { detail: 'fetch takes http:// and https:// only.' })
  if (!matchesHost(hosts, hostPort))
    throw new HostError('address-blocked', {
      detail: `${url.host} is not among the \`hosts\` of the tool.`,
      action: 'Name the host in `hosts` of the tool.',
    })
  if (!matchesHost(allowed, hostPort))
    throw new HostError('address-blocked', {
      detail: `${url.host} is not among the hosts that the operator allows.`,
      action: 'Ask the operator to add it to customToolkits.hosts of the app configuration.',
    })
}

/** Browsers expose no response for a redirect that is not followed. */
async function read(response: Response): Promise<JsonObject> {
  if (response.type === 'opaqueredirect')
    throw new HostError('address-blocked', { detail: 'The host redirects, which cannot be judged here.' })
  const { status, statusText, url, redirected, headers } = response
  return { status, statusText, url, redirected, headers: [...headers], body: await bounded(response) }
}

/** Limits the body for fetch implementations without a limit. */
async function bounded(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done || !value) return text + decoder.decode()
    bytes += value.length
    if (bytes > FETCH_BYTES) {
      await reader?.cancel()
      throw new HostError('response-too-large', { detail: `The answer has more than ${FETCH_BYTES} bytes.` })
    }
    text += decoder.decode(value, { stream: true })
  }
}

function toHostError(error: unknown, url: URL): HostError {
  if (HostError.is(error)) return error
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new HostError('server-timeout', { detail: `${url.host} did not answer within ${FETCH_MS} ms.` })
  return new HostError('server-unreachable', { detail: `${url.host} cannot be reached.`, cause: error })
}
