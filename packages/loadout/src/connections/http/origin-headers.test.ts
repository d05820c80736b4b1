import type { RequestListener } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type Loopback, listen, makeCertificates, names } from '../../../../../test/loopback.ts'
import { createGuardedFetch, withOriginHeaders } from './guard/guarded-fetch.ts'

/** Two origins; `/redirect/<status>?to=` sends anywhere. */
let home: Loopback
let away: Loopback
const { lookup } = names({ 'home.test': '127.0.0.1', 'away.test': '127.0.0.1' })
const guarded = createGuardedFetch({ privateNetwork: true, lookup })
const at = (server: Loopback, path = '/') => `http://${server === home ? 'home' : 'away'}.test:${server.port}${path}`
const via = (server: Loopback, status: number, to: string) =>
  at(server, `/redirect/${status}?to=${encodeURIComponent(to)}`)
const scoped = () => withOriginHeaders(guarded.fetch, at(home), { 'x-api-key': 'secret', 'user-agent': 'secret-agent' })
const last = (server: Loopback) => server.requests.at(-1)?.headers

beforeAll(async () => {
  const redirecting: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x.test')
    const status = Number(/^\/redirect\/(\d+)/.exec(pathname)?.[1])
    if (status) response.writeHead(status, { location: searchParams.get('to') ?? '' }).end('moved')
    else request.pipe(response.setHeader('x-method', request.method ?? ''))
  }
  home = await listen(redirecting)
  away = await listen(redirecting)
})
afterAll(async () => {
  await guarded.close()
  await home[Symbol.asyncDispose]()
  await away[Symbol.asyncDispose]()
})

const SECRETS = {
  authorization: 'Bearer secret',
  cookie: 'secret=1',
  'proxy-authorization': 'secret',
  'mcp-session-id': 'secret',
  'x-custom': 'secret',
}

describe('origin headers', () => {
  it('are added for their origin and do not override request headers', async () => {
    await scoped()(at(home), { headers: { 'X-Api-Key': 'own' } })
    expect(last(home)).toMatchObject({ 'x-api-key': 'own', 'user-agent': 'secret-agent' })
    await scoped()(new URL(at(home)), { method: 'POST', body: '{}' })
    expect(last(home)).toMatchObject({ 'x-api-key': 'secret' })
  })

  it('are not sent to another origin, even for SDK requests', async () => {
    for (const path of ['/', '/.well-known/oauth-protected-resource', '/token']) await scoped()(at(away, path))
    const otherPort = at(home).replace('home', 'away')
    await scoped()(otherPort)
    expect(JSON.stringify([...away.requests, home.requests.at(-1)])).not.toContain('secret')
  })

  for (const status of [301, 302, 303, 307, 308])
    it(`are not sent to the target of a ${status} redirect`, async () => {
      for (const redirect of ['follow', undefined] as const) {
        const response = await scoped()(via(home, status, at(away)), {
          headers: { ...SECRETS, accept: 'x/y' },
          redirect,
        })
        expect([response.status, response.redirected, response.url]).toEqual([200, true, at(away)])
        expect(JSON.stringify(last(away))).not.toContain('secret')
        expect(last(away)).toMatchObject({ accept: 'x/y' })
      }
    })

  it('are not sent after a redirect away and back', async () => {
    await guarded.fetch(via(home, 307, via(away, 307, at(home, '/end'))), { headers: SECRETS })
    expect(last(home)).not.toHaveProperty('authorization')
    expect(JSON.stringify(last(home))).not.toContain('secret')
  })

  it('follow redirects within the origin, except connection headers', async () => {
    await scoped()(via(home, 307, '/end'), { headers: SECRETS })
    const { 'proxy-authorization': own, ...rest } = SECRETS
    expect(last(home)).toMatchObject({ ...rest, 'x-api-key': 'secret' })
    expect(last(home)).not.toHaveProperty('proxy-authorization', own)
  })

  it('are protected over another fetch implementation too', async () => {
    const seen: string[] = []
    const plain = withOriginHeaders(
      async (url, init) => {
        seen.push(`${new URL(url).host} ${new Headers(init?.headers).get('x-key')} ${init?.redirect}`)
        return new Response(null, seen.length === 1 ? { status: 302, headers: { location: 'https://b.test/' } } : {})
      },
      'https://a.test/mcp',
      { 'x-key': 'secret' },
    )
    await plain('https://a.test/x')
    expect(seen).toEqual(['a.test secret manual', 'b.test null manual'])
  })
})

describe('redirects', () => {
  it('keep or change the method as HTTP specifies', async () => {
    const methods = async (status: number, method: string) => {
      const body = method === 'POST' || method === 'PUT' ? 'body' : undefined
      const response = await guarded.fetch(via(home, status, '/end'), { method, body })
      return [response.headers.get('x-method'), await response.text()].join(' ').trim()
    }
    for (const status of [301, 302, 303]) expect(await methods(status, 'POST')).toBe('GET')
    expect(last(home)).not.toHaveProperty('content-type')
    for (const status of [307, 308]) expect(await methods(status, 'POST')).toBe('POST body')
    expect(await methods(301, 'PUT')).toBe('PUT body')
    expect(await methods(303, 'PUT')).toBe('GET')
    for (const status of [301, 302, 303, 307, 308]) expect(await methods(status, 'HEAD')).toBe('HEAD')
  })

  it('do not send a body to another origin', async () => {
    const before = away.requests.length
    for (const status of [307, 308])
      expect(await codeOf(guarded.fetch(via(home, status, at(away)), { method: 'POST', body: 'secret' }))).toBe(
        'address-blocked',
      )
    expect(away.requests).toHaveLength(before)
    expect((await guarded.fetch(via(home, 303, at(away)), { method: 'POST', body: 'secret' })).status).toBe(200)
  })

  it('are returned with manual and rejected with error', async () => {
    const manual = await guarded.fetch(via(home, 302, at(away)), { redirect: 'manual' })
    expect([manual.status, manual.headers.get('location'), await manual.text()]).toEqual([302, at(away), 'moved'])
    expect(await codeOf(guarded.fetch(via(home, 302, '/end'), { redirect: 'error' }))).toBe('protocol-error')
    expect(await codeOf(scoped()(via(home, 302, '/end'), { redirect: 'error' }))).toBe('protocol-error')
  })

  it('are limited in number, with and without origin headers', async () => {
    const few = createGuardedFetch({ privateNetwork: true, lookup, maxRedirects: 2 })
    const times = (count: number): string => (count === 0 ? '/end' : via(home, 302, times(count - 1)))
    for (const fetch of [few.fetch, withOriginHeaders(few.fetch, at(home), { a: 'b' })]) {
      expect((await fetch(times(2))).status).toBe(200)
      expect(await codeOf(fetch(times(3)))).toBe('protocol-error')
    }
    await few.close()
    expect((await guarded.fetch(times(5))).status).toBe(200)
    expect(await codeOf(guarded.fetch(times(6)))).toBe('protocol-error')
    expect(await codeOf(guarded.fetch(via(home, 302, 'http://[')))).toBe('protocol-error')
  })

  it('from https to http are blocked', async () => {
    const tls = makeCertificates(['home.test'])
    await using secure = await listen((_, response) => response.writeHead(302, { location: at(home) }).end(), tls)
    const trusting = createGuardedFetch({ privateNetwork: true, lookup, ca: tls.ca })
    const before = home.requests.length
    expect(await codeOf(trusting.fetch(`https://home.test:${secure.port}/`))).toBe('address-blocked')
    expect(home.requests).toHaveLength(before)
    await trusting.close()
  })
})
