/**
 * Session routes: current user, sign-in and sign-out. They work without a session and check for one where needed. With
 * a custom `authenticate` only `GET /auth/session` has a result.
 */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import { parse, principal, type UserRow } from '@loadout/core/schema'
import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { assertSameOrigin } from '../../auth/authenticate.ts'
import { clientInfo } from '../../auth/client-address.ts'
import { PASSWORD_LENGTH } from '../../auth/input-limits.ts'
import type { Entered, SignedIn } from '../../auth/sessions.ts'
import type { SignIn } from '../../auth/sign-in.ts'
import type { Env } from '../../http/env.ts'
import type { Authenticate } from '../../http/middleware.ts'
import { idParam, json, jsonBodyOf } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

export interface AuthDeps {
  signIn: SignIn | undefined
  authenticate: Authenticate
  mode: 'local' | 'multi-user'
  publicUrl: string | undefined
  /** Number of reverse proxies before the server. */
  proxies: number
}

const signedInUser = z
  .object({ id: z.string(), name: z.string(), email: z.string().nullable(), operator: z.boolean() })
  .meta({ id: 'SignedInUser' })
const state = z
  .object({
    mode: z.enum(['local', 'multi-user']),
    user: signedInUser.nullable(),
    methods: z.object({ password: z.boolean(), oidc: z.object({ name: z.string() }).optional() }),
    setupNeeded: z.boolean().meta({ description: 'Whether nobody operates the server yet' }),
    expiresAt: z.iso.datetime().optional().meta({ description: 'When the session ends, if nobody uses it' }),
  })
  .meta({ id: 'SessionState' })
export const entered = z.object({ user: signedInUser }).meta({ id: 'Entered' })
export const email = z.email('must be an email address').max(320)
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `must have at least ${PASSWORD_LENGTH.min} characters`)
  .max(PASSWORD_LENGTH.max, `must have at most ${PASSWORD_LENGTH.max} characters`)
const anyPassword = z.string().min(1).max(PASSWORD_LENGTH.max)
const session = z
  .object({
    id: z.string(),
    current: z.boolean(),
    createdAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
  })
  .meta({ id: 'Session' })

/** These routes act on the session itself, so an API key cannot call them. */
const SESSION_ONLY = [{ session: [] }]

const show = createRoute({
  method: 'get',
  path: '/auth/session',
  security: [],
  summary: 'Who is signed in, and how one can sign in',
  responses: { 200: json(state, 'Whoever asks'), ...problemResponses },
})
const enter = createRoute({
  method: 'post',
  path: '/auth/sign-in',
  security: [],
  summary: 'Sign in with email and password',
  request: { body: jsonBodyOf(z.strictObject({ email, password: anyPassword })) },
  responses: { 200: json(entered, 'Signed in; the session is a cookie'), ...problemResponses },
})
const leave = createRoute({
  method: 'post',
  path: '/auth/sign-out',
  security: [],
  summary: 'End the session',
  responses: { 204: { description: 'Signed out' }, ...problemResponses },
})
const changePassword = createRoute({
  method: 'post',
  path: '/auth/password',
  security: SESSION_ONLY,
  summary: 'Choose another password; every other session ends',
  request: { body: jsonBodyOf(z.strictObject({ current: anyPassword, password: newPassword })) },
  responses: { 204: { description: 'Changed' }, ...problemResponses },
})
const list = createRoute({
  method: 'get',
  path: '/auth/sessions',
  security: SESSION_ONLY,
  summary: "The caller's sessions",
  responses: { 200: json(z.object({ items: z.array(session) }), 'All that are in force'), ...problemResponses },
})
const end = createRoute({
  method: 'delete',
  path: '/auth/sessions/{id}',
  security: SESSION_ONLY,
  summary: 'End one of them',
  request: { params: idParam },
  responses: { 204: { description: 'Ended' }, ...problemResponses },
})
const endOthers = createRoute({
  method: 'delete',
  path: '/auth/sessions',
  security: SESSION_ONLY,
  summary: 'End all but this one',
  responses: { 204: { description: 'Ended' }, ...problemResponses },
})

export function authRoutes(deps: AuthDeps) {
  const { authenticate, mode, proxies } = deps
  return new OpenAPIHono<Env>()
    .openapi(show, async (c) => {
      noStore(c)
      const { signIn } = deps
      const methods = {
        password: signIn?.byPassword ?? false,
        ...(signIn?.oidc ? { oidc: { name: signIn.oidc.name } } : {}),
      }
      const setupNeeded = (await signIn?.setupNeeded()) ?? false
      const renewed = await signIn?.sessions.renew(clientInfo(c, proxies))
      for (const cookie of renewed?.cookies ?? []) setCookie(c, cookie)
      const rest = { mode, methods, setupNeeded }
      if (renewed?.signedIn) return c.json({ ...rest, ...stateOf(renewed.signedIn) }, 200)
      return c.json({ ...rest, user: await otherUser(c, authenticate) }, 200)
    })
    .openapi(enter, async (c) => {
      const result = await signInOf(deps).enter(clientInfo(c, proxies), c.req.valid('json'))
      return c.json(welcome(c, result), 200)
    })
    .openapi(leave, async (c) => {
      const { sessions } = signInOf(deps)
      assertSameOrigin(c.req.raw, deps.publicUrl)
      const { cookies } = await sessions.leave(clientInfo(c, proxies))
      for (const cookie of cookies) setCookie(c, cookie)
      noStore(c)
      return c.body(null, 204)
    })
    .openapi(changePassword, async (c) => {
      await signedInOf(c, deps)
      const { cookies } = await signInOf(deps).changePassword(clientInfo(c, proxies), c.req.valid('json'))
      for (const cookie of cookies) setCookie(c, cookie)
      noStore(c)
      return c.body(null, 204)
    })
    .openapi(list, async (c) => {
      const { user, sessionId } = await signedInOf(c, deps)
      const rows = await signInOf(deps).sessions.list(user.userId)
      const items = rows.map((row) => ({
        id: row.sessionId,
        current: row.sessionId === sessionId,
        address: row.address,
        userAgent: row.userAgent,
        createdAt: row.createdAt.toISOString(),
        lastSeenAt: row.updatedAt.toISOString(),
        expiresAt: row.expiresAt.toISOString(),
      }))
      noStore(c)
      return c.json({ items }, 200)
    })
    .openapi(end, async (c) => {
      const { user } = await signedInOf(c, deps)
      const hasEnded = await signInOf(deps).sessions.end(user.userId, c.req.valid('param').id)
      if (!hasEnded) throw new HostError('not-found', { detail: 'You have no session with this id.' })
      return c.body(null, 204)
    })
    .openapi(endOthers, async (c) => {
      const { user, sessionId } = await signedInOf(c, deps)
      await signInOf(deps).sessions.endOthers(user.userId, sessionId)
      return c.body(null, 204)
    })
}

export function signInOf({ signIn }: Pick<AuthDeps, 'signIn'>): SignIn {
  if (signIn) return signIn
  throw new HostError('not-found', {
    detail: 'This server has no sign-in of its own.',
    action: 'Nothing: it needs none.',
  })
}

export const SESSION_PATHS = ['/auth/password', '/auth/sessions', '/auth/sessions/:id']

/** Refuses a request without a session before its body is read. */
export function requireSession(deps: AuthDeps): MiddlewareHandler<Env> {
  return async (c, next) => {
    await signedInOf(c, deps)
    await next()
  }
}

async function signedInOf(c: Context<Env>, deps: AuthDeps): Promise<SignedIn> {
  const found = await signInOf(deps).sessions.find(c.req.raw.headers)
  if (!found)
    throw new HostError('unauthenticated', {
      detail: 'This needs a session; an API key has none.',
      action: 'Sign in at `POST /api/auth/sign-in` and send the session cookie.',
    })
  assertSameOrigin(c.req.raw, deps.publicUrl)
  return found
}

/** Sets the session cookies and returns the user. */
export function welcome(c: Context<Env>, { user, cookies }: Entered) {
  for (const cookie of cookies) setCookie(c, cookie)
  noStore(c)
  return { user: viewOf(user) }
}

const viewOf = ({ userId: id, name, email: userEmail, role }: UserRow) => ({
  id,
  name,
  email: userEmail,
  operator: role === 'operator',
})

const stateOf = ({ user, expiresAt }: SignedIn) => ({ user: viewOf(user), expiresAt: expiresAt.toISOString() })

/** The local user, the user of an API key, or the user of a custom `authenticate`. */
async function otherUser(c: Context<Env>, authenticate: Authenticate): Promise<z.infer<typeof signedInUser> | null> {
  const found = await authenticate(c.req.raw)
  if (!found) return null
  const { userId, role } = parse(principal, found)
  return { id: userId, name: userId, email: null, operator: role === 'operator' }
}

export const setCookie = (c: Context<Env>, cookie: string) => c.header('set-cookie', cookie, { append: true })

/** Responses about a user are never cached. */
export const noStore = (c: Context<Env>) => c.header('cache-control', 'no-store')
