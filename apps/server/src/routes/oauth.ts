/**
 * Sign-in to servers of others: a link for its user, the page that people come back to, and the way out again.
 *
 * The page is public, because who comes back may be on another device than the one that asked. Whose link it is, its state
 * says; that the person is that user, a session says, or the cookie of the browser that asked, or the person themselves,
 * after being shown whose account it is. So nobody is led to sign in for somebody else.
 */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { type Host, HostError } from 'loadout'
import type { Authenticate } from '../doors.ts'
import { CLOSE_SCRIPT, confirmPage, failedPage, signedInPage } from '../oauth-pages.ts'
import { idText, json, jsonBodyOf } from '../openapi.ts'
import { problemResponses } from '../problem.ts'
import type { Env } from '../variables.ts'

const COOKIE = 'loadout-sign-in'
const COOKIE_PATH = '/api/oauth'
const COOKIE_SECONDS = 600

const toolkitBody = jsonBodyOf(z.strictObject({ toolkit: idText.openapi({ description: 'Its id' }) }))

const start = createRoute({
  method: 'post',
  path: '/oauth/start',
  summary: 'A link for the caller to sign in to the server of a toolkit; it is good once and for ten minutes',
  request: { body: toolkitBody },
  responses: { 200: json(z.object({ url: z.string(), expiresAt: z.string() }), 'The link'), ...problemResponses },
})
const disconnect = createRoute({
  method: 'post',
  path: '/oauth/disconnect',
  summary: "Forget the caller's sign-in to a toolkit, and revoke it where its server can",
  request: { body: toolkitBody },
  responses: { 200: json(z.object({ revoked: z.boolean() }), 'Forgotten'), ...problemResponses },
})
const callback = createRoute({
  method: 'get',
  path: '/oauth/callback',
  summary: 'Where people come back to after they signed in: a page',
  security: [],
  request: {
    query: z.object({
      state: z.string().max(500).default(''),
      code: z.string().max(8192).optional(),
      iss: z.string().max(2000).optional(),
      error: z.string().max(200).optional(),
      confirm: z.string().max(10).optional().openapi({ description: 'The person said that the account is theirs' }),
    }),
  },
  responses: {
    200: { description: 'A page that closes itself, or asks first', content: { 'text/html': { schema: z.string() } } },
    400: { description: 'A page that says why not', content: { 'text/html': { schema: z.string() } } },
  },
})

export function oauthRoutes(host: Host) {
  return new OpenAPIHono<Env>()
    .openapi(start, async (c) => {
      const { url, expiresAt } = await host.signIns.start(c.get('principal').userId, c.req.valid('json').toolkit)
      const secure = new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https'
      setCookie(c, COOKIE, new URL(url).searchParams.get('state') ?? '', {
        path: COOKIE_PATH,
        maxAge: COOKIE_SECONDS,
        httpOnly: true,
        sameSite: 'Lax',
        secure,
      })
      return c.json({ url, expiresAt: expiresAt.toISOString() }, 200)
    })
    .openapi(disconnect, async (c) => {
      const { toolkit } = c.req.valid('json')
      return c.json(await host.signIns.disconnect(c.get('principal').userId, toolkit), 200)
    })
}

/** What is reached without a key: mounted before the door that asks for one. */
export function oauthPages(host: Host, authenticate: Authenticate) {
  const pages = new OpenAPIHono<Env>()
  pages.get('/oauth/close.js', (c) => c.body(CLOSE_SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }))
  pages.openapi(callback, async (c) => {
    const { confirm, ...returned } = c.req.valid('query')
    // Addresses with codes in them are nobody's business.
    c.header('referrer-policy', 'no-referrer')
    c.header('cache-control', 'no-store')
    try {
      const { userId, name } = await host.signIns.whose(returned.state)
      const who = await principalOf(c, authenticate)
      const known = who !== undefined || getCookie(c, COOKIE) === returned.state
      if (!known && confirm !== 'yes') {
        const again = new URL(c.req.url)
        again.searchParams.set('confirm', 'yes')
        return c.html(confirmPage({ userId, name, href: again.pathname + again.search }), 200)
      }
      const { toolkit } = await host.signIns.finish(returned, who === undefined ? undefined : { userId: who })
      return c.html(signedInPage({ name, toolkit }), 200)
    } catch (thrown) {
      return c.html(failedPage(HostError.from(thrown)), 400)
    }
  })
  return pages
}

/** A key that is not right is no key: the link still has to be the holder's own. */
async function principalOf(c: Context<Env>, authenticate: Authenticate): Promise<string | undefined> {
  try {
    return (await authenticate(c.req.raw))?.userId
  } catch {
    return undefined
  }
}
