/**
 * OAuth sign-in to third-party servers: start link, callback page and disconnect.
 * The callback page is public, because the user may finish on another device. The state names the user. The visitor
 * must be that user: by session, by the cookie of the browser that started, or by confirming a form with a token that
 * only that browser has. This prevents login CSRF: nobody can be led to sign in for another user.
 */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { HostError } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import type { Context, Next } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import { CLOSE_SCRIPT, confirmPage, failedPage, PAGE_STYLE, signedInPage } from '../../auth/oauth-pages.ts'
import type { UserAdmin } from '../../auth/user-admin.ts'
import type { Env } from '../../http/env.ts'
import type { Authenticate } from '../../http/middleware.ts'
import { idText, json, jsonBodyOf } from '../../http/openapi.ts'
import { problemResponses } from '../../http/problem.ts'

const COOKIE = 'loadout-sign-in'
const CONFIRM_COOKIE = 'loadout-confirm'
const COOKIE_SECONDS = 600
const FORM_BYTES = 64 * 1024
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

const toolkitBody = jsonBodyOf(z.strictObject({ toolkit: idText.meta({ description: 'Its id' }) }))

const link = z.object({
  url: z.string(),
  expiresAt: z.string(),
  sameMachine: z.boolean().meta({ description: 'Whether it can be finished only on the machine of the server' }),
})
const start = createRoute({
  method: 'post',
  path: '/oauth/start',
  summary: 'A link for the caller to sign in to the server of a toolkit; it is good once and for ten minutes',
  request: { body: toolkitBody },
  responses: { 200: json(link, 'The link'), ...problemResponses },
})
const disconnect = createRoute({
  method: 'post',
  path: '/oauth/disconnect',
  summary: "Forget the caller's sign-in to a toolkit, and revoke it where its server can",
  request: { body: toolkitBody },
  responses: { 200: json(z.object({ revoked: z.boolean() }), 'Forgotten'), ...problemResponses },
})

/** Parameters of the authorization response. */
const returned = z.object({
  state: z.string().max(500).default(''),
  code: z.string().max(8192).optional(),
  iss: z.string().max(2000).optional(),
  error: z.string().max(200).optional(),
})
const page = (description: string) => ({ description, content: { 'text/html': { schema: z.string() } } })
const callback = createRoute({
  method: 'get',
  path: '/oauth/callback',
  summary: 'Where people come back to after they signed in: a page',
  security: [],
  request: { query: returned },
  responses: { 200: page('A page that closes itself, or asks first'), 400: page('A page that says why not') },
})
const confirm = createRoute({
  method: 'post',
  path: '/oauth/confirm',
  summary: 'The form of that page: the person says that the account is theirs',
  security: [],
  middleware: [formOnly, bodyLimit({ maxSize: FORM_BYTES, onError: invalidLink })],
  request: {
    body: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': { schema: returned.extend({ word: z.string().min(20).max(100) }) },
      },
    },
  },
  responses: { 200: page('A page that closes itself'), 400: page('A page that says why not') },
})

export function oauthRoutes(host: HostServices) {
  return new OpenAPIHono<Env>()
    .openapi(start, async (c) => {
      const { url, expiresAt } = await host.signIns.start(c.get('principal').userId, c.req.valid('json').toolkit)
      const { searchParams } = new URL(url)
      remember(c, { name: COOKIE, value: searchParams.get('state') ?? '', sameSite: 'Lax' })
      const back = URL.parse(searchParams.get('redirect_uri') ?? '')
      const sameMachine = LOOPBACK.test(back?.hostname ?? '')
      return c.json({ url, expiresAt: expiresAt.toISOString(), sameMachine }, 200)
    })
    .openapi(disconnect, async (c) => {
      const { userId, role, scopes } = c.get('principal')
      const isOperator = role === 'operator' && scopes.includes('operate')
      return c.json(await host.signIns.disconnect(userId, c.req.valid('json').toolkit, { isOperator }), 200)
    })
}

/** Routes without a key, mounted before the authentication and JSON middleware. */
export function oauthPages(host: HostServices, authenticate: Authenticate, people?: Pick<UserAdmin, 'find'>) {
  const pages = new OpenAPIHono<Env>()
  const finish = async (c: Context<Env>, params: z.infer<typeof returned>, userId: string | undefined) => {
    const { name } = await host.signIns.whose(params.state)
    const { toolkit } = await host.signIns.finish(params, userId === undefined ? undefined : { userId })
    return c.html(signedInPage({ name, toolkit, basePath: c.get('basePath') }), 200)
  }
  pages.get('/oauth/page.css', (c) => c.body(PAGE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }))
  pages.get('/oauth/close.js', (c) => c.body(CLOSE_SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }))
  pages.openapi(
    callback,
    async (c) => {
      noStore(c)
      const params = c.req.valid('query')
      try {
        const { userId, name } = await host.signIns.whose(params.state)
        const signedInUserId = await principalOf(c, authenticate)
        if (signedInUserId !== undefined || getCookie(c, COOKIE) === params.state)
          return await finish(c, params, signedInUserId)
        const confirmToken = newConfirmToken()
        remember(c, { name: CONFIRM_COOKIE, value: confirmToken, sameSite: 'Strict' })
        return c.html(
          confirmPage({
            account: (await people?.find(userId)) ?? { userId },
            name,
            action: `${cookiePath(c)}/confirm`,
            basePath: c.get('basePath'),
            fields: { ...params, word: confirmToken },
          }),
          200,
        )
      } catch (thrown) {
        return refuse(c, thrown)
      }
    },
    onlyValid,
  )
  pages.openapi(
    confirm,
    async (c) => {
      noStore(c)
      const { word: confirmToken, ...params } = c.req.valid('form')
      try {
        if (getCookie(c, CONFIRM_COOKIE) !== confirmToken) throw new HostError('sign-in-link-invalid')
        deleteCookie(c, CONFIRM_COOKIE, { path: cookiePath(c) })
        return await finish(c, params, await principalOf(c, authenticate))
      } catch (thrown) {
        return refuse(c, thrown)
      }
    },
    onlyValid,
  )
  return pages
}

/** Invalid input gives an HTML page. */
function onlyValid(result: { success: boolean }, c: Context<Env>) {
  return result.success ? undefined : invalidLink(c)
}

async function formOnly(c: Context, next: Next) {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(c.req.header('content-type') ?? '')
  return isForm ? next() : invalidLink(c)
}

function invalidLink(c: Context) {
  return refuse(c, new HostError('sign-in-link-invalid'))
}

function refuse(c: Context, thrown: unknown) {
  noStore(c)
  return c.html(failedPage(HostError.from(thrown), c.get('basePath')), 400)
}

/** URLs with authorization codes must not be cached or sent as referrer. */
function noStore(c: Context): void {
  c.header('referrer-policy', 'no-referrer')
  c.header('cache-control', 'no-store')
}

const cookiePath = (c: Context<Env>) => `${c.get('basePath')}/api/oauth`

function remember(c: Context<Env>, cookie: { name: string; value: string; sameSite: 'Lax' | 'Strict' }): void {
  const secure = new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https'
  const { name, value, sameSite } = cookie
  setCookie(c, name, value, { path: cookiePath(c), maxAge: COOKIE_SECONDS, httpOnly: true, sameSite, secure })
}

const newConfirmToken = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')

/** An invalid key counts as no key: the visitor must then confirm the link. */
async function principalOf(c: Context<Env>, authenticate: Authenticate): Promise<string | undefined> {
  try {
    return (await authenticate(c.req.raw))?.userId
  } catch {
    return undefined
  }
}
