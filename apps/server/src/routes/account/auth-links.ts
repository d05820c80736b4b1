/** Routes of one-time links (setup, invitation, password reset) and of OIDC sign-in. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import type { Context } from 'hono'
import { z } from 'zod'
import { clientInfo } from '../../auth/client-address.ts'
import { isLocalPath } from '../../auth/input-limits.ts'
import type { Env } from '../../http/env.ts'
import { json, jsonBodyOf } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'
import { type AuthDeps, email, entered, newPassword, noStore, setCookie, signInOf, welcome } from './auth.ts'

export const personName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200)
  .regex(/^[^\p{Cc}\p{Cf}]*$/u, 'must not hold control characters')
const token = z.string().min(1).max(200)
const link = z
  .object({
    kind: z.enum(['setup', 'invite', 'reset']),
    expiresAt: z.iso.datetime(),
    email: z.string().optional(),
    name: z.string().optional(),
  })
  .meta({ id: 'SignInLink' })

const look = createRoute({
  method: 'post',
  path: '/auth/link',
  security: [],
  summary: 'What a link is for; it stays good',
  request: { body: jsonBodyOf(z.strictObject({ token })) },
  responses: { 200: json(link, 'What it is for'), ...problemResponses },
})
const setUp = createRoute({
  method: 'post',
  path: '/auth/setup',
  security: [],
  summary: 'Become the first operator, by the link that the server printed',
  request: { body: jsonBodyOf(z.strictObject({ token, email, name: personName, password: newPassword.optional() })) },
  responses: {
    201: json(entered, 'The first operator, signed in'),
    202: json(entered, 'Who it will be: where nobody has a password they come in by the provider'),
    ...problemResponses,
  },
})
const accept = createRoute({
  method: 'post',
  path: '/auth/invite',
  security: [],
  summary: 'Choose a password, by the link of an invitation',
  request: { body: jsonBodyOf(z.strictObject({ token, name: personName.optional(), password: newPassword })) },
  responses: { 200: json(entered, 'Signed in'), ...problemResponses },
})
const reset = createRoute({
  method: 'post',
  path: '/auth/reset',
  security: [],
  summary: 'Choose a new password, by the link of an operator; earlier sessions end',
  request: { body: jsonBodyOf(z.strictObject({ token, password: newPassword })) },
  responses: { 200: json(entered, 'Signed in'), ...problemResponses },
})

const onwards = { 302: { description: 'Onwards' }, ...problemResponses }
const startOidc = createRoute({
  method: 'get',
  path: '/auth/oidc/start',
  security: [],
  summary: 'To the sign-in provider; a page to go to, not to fetch',
  request: {
    query: z.object({ returnTo: z.string().max(2000).refine(isLocalPath, 'must be a path of this server').optional() }),
  },
  responses: onwards,
})
const text = z.string().max(8000).optional()
const finishOidc = createRoute({
  method: 'get',
  path: '/auth/oidc/callback',
  security: [],
  summary: 'Where the provider sends people back to',
  request: { query: z.object({ state: text, code: text, iss: text, error: text, error_description: text }) },
  responses: onwards,
})

export function authLinkRoutes(deps: AuthDeps) {
  const { proxies } = deps
  return new OpenAPIHono<Env>()
    .openapi(look, async (c) => {
      const { kind, expiresAt, user } = await signInOf(deps).look(c.req.valid('json').token)
      noStore(c)
      const person = user ? { email: user.email, name: user.name } : {}
      return c.json({ kind, expiresAt: expiresAt.toISOString(), ...person }, 200)
    })
    .openapi(setUp, async (c) => {
      const result = await signInOf(deps).setUp(clientInfo(c, proxies), c.req.valid('json'))
      return c.json(welcome(c, result), result.cookies.length > 0 ? 201 : 202)
    })
    .openapi(accept, async (c) => {
      const input = { kind: 'invite' as const, ...c.req.valid('json') }
      return c.json(welcome(c, await signInOf(deps).redeem(clientInfo(c, proxies), input)), 200)
    })
    .openapi(reset, async (c) => {
      const input = { kind: 'reset' as const, ...c.req.valid('json') }
      return c.json(welcome(c, await signInOf(deps).redeem(clientInfo(c, proxies), input)), 200)
    })
    .openapi(startOidc, async (c) => {
      const returnTo = c.req.valid('query').returnTo ?? `${c.get('basePath')}/`
      const started = oidcOf(deps).start(clientInfo(c, proxies), returnTo)
      const { url, cookies } = await started.catch((error) => backToSignIn(c, error))
      return redirectTo(c, url, cookies)
    })
    .openapi(finishOidc, async (c) => {
      const finished = oidcOf(deps).finish(clientInfo(c, proxies), c.req.valid('query'))
      const { url, cookies } = await finished.catch((error) => backToSignIn(c, error))
      return redirectTo(c, url, cookies)
    })
}

function oidcOf(deps: AuthDeps) {
  const { oidc } = signInOf(deps)
  if (oidc) return oidc
  throw new HostError('not-found', {
    detail: 'This server has no sign-in provider.',
    action: 'Sign in with a password.',
  })
}

/** A browser is redirected to the sign-in page with the problem code. */
function backToSignIn(c: Context<Env>, error: unknown): { url: string; cookies: string[] } {
  if (!HostError.is(error) || !c.req.header('accept')?.includes('text/html')) throw error
  return { url: `${c.get('basePath')}/sign-in?problem=${error.code}`, cookies: [] }
}

function redirectTo(c: Context<Env>, to: string, cookies: string[]) {
  for (const cookie of cookies) setCookie(c, cookie)
  noStore(c)
  c.header('referrer-policy', 'no-referrer')
  return c.redirect(to, 302)
}
