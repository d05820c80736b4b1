/** Middleware before all routes: request id, Host and Origin check, JSON body, authentication and scopes. */

import { HostError, newId } from '@loadout/core'
import { type KeyScope, type Principal, type PrincipalInput, parse, parseJson, principal } from '@loadout/core/schema'
import { ROOT_CONTEXT } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes, routePath } from 'hono/route'
import { copyRequest } from './base-path.ts'
import type { Env } from './env.ts'
import { sendProblem } from './problem.ts'

export const BODY_LIMIT_BYTES = 4 * 1024 * 1024

/** Returns the principal of a request, or undefined. An app replaces it to use its own users. */
export type Authenticate = (request: Request) => Promise<PrincipalInput | undefined> | PrincipalInput | undefined

export function requestId(): MiddlewareHandler<Env> {
  return async (c, next) => {
    const id = newId('request')
    c.set('requestId', id)
    await next()
    c.header('x-request-id', id)
  }
}

/** Tells routes the path in front of the app, for links and cookies. */
export function basePathOf(basePath: string): MiddlewareHandler<Env> {
  return (c, next) => {
    c.set('basePath', basePath)
    return next()
  }
}

/**
 * Reads the W3C trace context of a request, so that its calls are traced under it. Baggage is dropped, because it
 * would reach third-party servers.
 */
export function traceParent(): MiddlewareHandler<Env> {
  const propagator = new W3CTraceContextPropagator()
  const reader = { keys: () => [], get: (headers: Headers, name: string) => headers.get(name) ?? undefined }
  return async (c, next) => {
    const { headers } = c.req.raw
    if (headers.has('traceparent')) c.set('trace', propagator.extract(ROOT_CONTEXT, headers, reader))
    await next()
  }
}

/** Refuses requests on keep-alive connections once the server stops. */
export function openUntil(stopping: AbortSignal): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (stopping.aborted) {
      c.header('connection', 'close')
      // Returned instead of thrown, because it is not a failure to log.
      return sendProblem(
        c,
        new HostError('shutting-down', { detail: 'The server is stopping and takes no more requests.' }),
      )
    }
    await next()
    if (stopping.aborted) c.header('connection', 'close')
  }
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * CSRF and DNS rebinding protection: with `loopbackOnly` only loopback hosts are accepted, and an Origin must equal
 * the Host.
 */
export function checkOrigin({
  loopbackOnly,
  publicUrl,
}: {
  loopbackOnly: boolean
  publicUrl?: string | undefined
}): MiddlewareHandler<Env> {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host
  const isOurs = (host: string) =>
    host === publicHost ||
    (loopbackOnly ? LOOPBACK.has(URL.parse(`http://${host}`)?.hostname ?? '') : publicHost === undefined)

  return async (c, next) => {
    const host = c.req.header('host') ?? new URL(c.req.url).host
    const origin = c.req.header('origin')
    if (!isOurs(host))
      throw new HostError('foreign-origin', { detail: `The Host "${host.slice(0, 100)}" is not ours.` })
    if (origin !== undefined && URL.parse(origin)?.host !== host)
      throw new HostError('foreign-origin', { detail: `The Origin "${origin.slice(0, 100)}" is not ours.` })
    await next()
  }
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Whether a route requires a body. */
export type NeedsBody = (method: string, path: string) => boolean

/**
 * Checks size and JSON of the body and rejects prototype keys; the route schemas parse it later. An empty body is
 * refused if the route requires one, with and without a content type.
 */
export function jsonBody(needsBody: NeedsBody, limit = BODY_LIMIT_BYTES): MiddlewareHandler<Env> {
  const tooLarge = () => new HostError('body-too-large', { detail: `The body is larger than ${limit} bytes.` })
  return async (c, next) => {
    if (!WITH_BODY.has(c.req.method)) return next()
    if (Number(c.req.header('content-length') ?? 0) > limit) throw tooLarge()
    const bytes = await readUpTo(c.req.raw.body, limit)
    if (bytes === undefined) throw tooLarge()
    const type = c.req.header('content-type') ?? ''
    const isEmpty = bytes.length === 0
    if (!(isEmpty && type === '') && !/^application\/([\w.+-]+\+)?json\b/i.test(type))
      throw new HostError('unsupported-media-type', { detail: `The content type is "${type.slice(0, 80)}".` })
    const headers = new Headers(c.req.raw.headers)
    if (!isEmpty) parseJson(new TextDecoder().decode(bytes))
    else if (matchedRoutes(c).some(({ path }) => needsBody(c.req.method, path)))
      throw new HostError('invalid-json', { detail: `The body of ${c.req.method} ${c.req.path} is empty.` })
    else headers.delete('content-type')
    // The stream is consumed, so later handlers get a new request with its bytes.
    c.req.raw = copyRequest(c.req.raw, { body: bytes as BodyInit, headers })
    return next()
  }
}

async function readUpTo(body: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Scopes of routes that need more than `read` for GET and `write` otherwise; one of them is enough. */
const SCOPES: Readonly<Record<string, readonly KeyScope[]>> = {
  'POST /api/tools/:toolkit/:tool/call': ['call'],
  'POST /api/workflow/invoke': ['call'],
  'POST /api/runs/:id/rerun': ['call'],
  // These routes change nothing.
  'POST /api/workflows/:id/check': ['read', 'call'],
  'POST /api/workflows/validate': ['read', 'write'],
  'POST /api/mcp/config/check': ['read', 'write'],
  // The model can call any tool.
  'POST /api/threads/:id/messages': ['call'],
  'POST /api/inputs/:id': ['call'],
  'POST /api/approvals/:id/answer': ['approve'],
  'POST /api/grants': ['approve'],
  'GET /api/approvals': ['read', 'call', 'approve'],
  'GET /api/approvals/:id': ['read', 'call', 'approve'],
  'GET /api/results/:id': ['read', 'call'],
  // A caller may read the outcome and the input requests of its calls.
  'GET /api/calls/:id': ['read', 'call'],
  'POST /api/calls/:id/cancel': ['call'],
  'GET /api/inputs': ['read', 'call'],
}

/** Uses the matched route, not the spelling of the path. */
function scopesFor(c: Context<Env>): readonly KeyScope[] {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
  return SCOPES[`${method} ${routePath(c, -1)}`] ?? [method === 'GET' ? 'read' : 'write']
}

export function authenticated(authenticate: Authenticate): MiddlewareHandler<Env> {
  return async (c, next) => {
    const found = await authenticate(c.req.raw)
    if (!found) throw new HostError('unauthenticated')
    const caller = parse(principal, found)
    assertScope(caller.scopes, ...scopesFor(c))
    c.set('principal', caller)
    await next()
  }
}

export type IsStill = (request: Request, caller: Principal) => Promise<boolean>

/** Whether a long-running request still authenticates as the same principal. */
export function stillOf(authenticate: Authenticate): IsStill {
  return async (request, caller) => {
    try {
      const found = await authenticate(request)
      return found?.userId === caller.userId && (found.role ?? 'user') === caller.role
    } catch {
      return false
    }
  }
}

/** One of the needed scopes is enough. */
function assertScope(scopes: readonly KeyScope[], ...needed: readonly KeyScope[]): void {
  if (needed.some((scope) => scopes.includes(scope))) return
  throw new HostError('forbidden', { detail: `The API key lacks the scope "${needed.join('" or "')}".` })
}

export function assertOperator(caller: Principal): void {
  if (caller.role !== 'operator') throw new HostError('forbidden', { detail: 'Only an operator may do this.' })
  assertScope(caller.scopes, 'operate')
}
