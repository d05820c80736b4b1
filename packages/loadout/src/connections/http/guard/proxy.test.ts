import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { codeOf, type Loopback, listen, makeCertificates, names } from '../../../../../../test/loopback.ts'
import { provenWithin } from '../../../../../../test/prove/work.ts'
import { createGuardedFetch, type GuardedFetch, type GuardOptions } from './guarded-fetch.ts'
import { readProxy } from './proxy.ts'

const tls = makeCertificates(['secure.test', 'proxy.test'])
const open: GuardedFetch[] = []
afterEach(async () => {
  for (const guarded of open.splice(0)) await guarded.close()
})
function guard(options: GuardOptions) {
  const guarded = createGuardedFetch({ connectTimeoutMs: 60_000, ...options })
  open.push(guarded)
  return guarded.fetch
}

/** A proxy that resolves every name to 127.0.0.1 and records its requests. */
async function startProxy(options: { login?: string; secure?: boolean; silent?: boolean } = {}) {
  const requests: string[] = []
  const wanted = options.login && `Basic ${Buffer.from(options.login).toString('base64')}`
  const proxy = await listen(
    (request, response) => {
      requests.push(`${request.method} ${request.url}`)
      if (wanted && request.headers['proxy-authorization'] !== wanted) response.writeHead(407).end()
      else response.setHeader('x-host', request.headers.host ?? '').end(`for ${request.url}`)
    },
    options.secure ? tls : undefined,
  )
  proxy.server.on('connect', (request, client) => {
    requests.push(`CONNECT ${request.url}`)
    if (options.silent) return
    if (wanted && request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const port = Number(request.url?.split(':').at(-1))
    const upstream = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    upstream.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    client.on('error', () => upstream.destroy())
    upstream.pipe(client).pipe(upstream)
    client.on('close', () => upstream.destroy())
  })
  return Object.assign(proxy, { requests })
}
const secureServer = (): Promise<Loopback> => listen((_, response) => response.end('tls'), tls)

describe('requests through a proxy', () => {
  it('use CONNECT for https, trust the extra authority and keep the tunnel', async () => {
    await using server = await secureServer()
    for (const secure of [false, true]) {
      await using proxy = await startProxy({ login: 'me:p@ss', secure })
      const url = `${secure ? 'https' : 'http'}://me:p%40ss@127.0.0.1:${proxy.port}`
      const { lookup, asked: lookups } = names({})
      const fetch = guard({ proxy: { url }, ca: tls.ca, lookup })
      for (let i = 0; i < 3; i++)
        expect(await (await fetch(`https://secure.test:${server.port}/`, { method: 'POST', body: 'x' })).text()).toBe(
          'tls',
        )
      expect(proxy.requests).toEqual([`CONNECT secure.test:${server.port}`])
      expect(lookups).toEqual([])
    }
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
    expect(server.requests[0]?.headers.host).toBe(`secure.test:${server.port}`)
  })

  it('use the whole URL for http', async () => {
    await using proxy = await startProxy({ login: 'me:pass' })
    const fetch = guard({ proxy: { url: `http://me:pass@127.0.0.1:${proxy.port}` } })
    const response = await fetch('http://plain.test:81/a?b=c#d')
    expect(response.headers.get('x-host')).toBe('plain.test:81')
    expect(await response.text()).toBe('for http://plain.test:81/a?b=c')
    await (await fetch('http://other.test/')).text()
    expect(proxy.sockets).toHaveLength(1)
  })

  it('are still checked for literal addresses and local names', async () => {
    await using proxy = await startProxy()
    const fetch = guard({ proxy: { url: `http://127.0.0.1:${proxy.port}` } })
    for (const host of ['127.0.0.1', '0x7f.1', '169.254.169.254', '[::1]', 'localhost', 'metadata.google.internal'])
      for (const scheme of ['http', 'https'])
        expect(await codeOf(fetch(`${scheme}://${host}/`))).toBe('address-blocked')
    expect(proxy.requests).toEqual([])
  })

  it('report proxy refusals, timeouts and outages without the password', async () => {
    await using refusing = await startProxy({ login: 'me:right' })
    await using silent = await startProxy({ silent: true })
    const failure = async (port: number, connectTimeoutMs = 60_000) => {
      const fetch = guard({ proxy: { url: `http://me:wrong@127.0.0.1:${port}` }, connectTimeoutMs })
      return fetch('https://secure.test/').catch((error) => `${error.code} ${error.message}`)
    }
    expect(await failure(refusing.port)).toBe('server-unreachable The proxy refused the connection (HTTP 407).')
    expect(await failure(silent.port, 100)).toBe('server-timeout The proxy opened no connection in time.')
    const { port } = refusing
    await refusing[Symbol.asyncDispose]()
    expect(await failure(port)).toBe('server-unreachable The proxy: the connection was refused.')
    expect(() => readProxy({ url: 'socks5://me:wrong@x.test' })).toThrow('The URL of the proxy')
  })

  it('stop waiting for the tunnel on abort', async () => {
    await using silent = await startProxy({ silent: true })
    const fetch = guard({ proxy: { url: `http://127.0.0.1:${silent.port}` } })
    await provenWithin(500, () =>
      expect(fetch('https://secure.test/', { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
        name: 'TimeoutError',
      }),
    )
  })

  it('bypass the proxy for noProxy hosts, which are fully checked', async () => {
    await using server = await listen((_, response) => response.end('straight'))
    await using proxy = await startProxy()
    const { lookup } = names({ 'in.corp.test': '127.0.0.1' })
    const settings = { url: `http://127.0.0.1:${proxy.port}`, noProxy: 'corp.test' }
    const url = `http://in.corp.test:${server.port}/`
    expect(await (await guard({ proxy: settings, lookup, allow: ['*.corp.test'] })(url)).text()).toBe('straight')
    expect(await codeOf(guard({ proxy: settings, lookup })(url))).toBe('address-blocked')
    expect(proxy.requests).toEqual([])
  })
})

describe('noProxy', () => {
  const straight = (noProxy: string, url: string) =>
    !readProxy({ url: 'http://proxy.test', noProxy }).serves(new URL(url))
  const table: [string, string, boolean][] = [
    ['', 'https://a.test', false],
    ['*', 'https://a.test', true],
    ['a.test', 'https://a.test', true],
    ['a.test', 'https://b.a.test', true],
    ['a.test', 'https://ba.test', false],
    ['.a.test', 'https://b.a.test', true],
    ['*.a.test', 'https://b.a.test', true],
    ['A.Test', 'https://a.TEST.', true],
    ['x.test, a.test', 'https://a.test', true],
    ['x.test a.test', 'https://a.test', true],
    ['a.test:8443', 'https://a.test:8443', true],
    ['a.test:8443', 'https://a.test', false],
    ['a.test:443', 'https://a.test', true],
    ['10.0.0.1', 'http://10.0.0.1', true],
    ['10.0.0.1', 'http://0xa.1', true],
    ['10.0.0.0/8', 'http://10.9.8.7', true],
    ['10.0.0.0/8', 'http://11.9.8.7', false],
    ['10.0.0.0/8', 'http://ten.test', false],
    ['fd00::/8', 'http://[fd00::1]', true],
    ['[::1]:80', 'http://[::1]', true],
    ['::1', 'http://[::1]:99', true],
  ]
  for (const [noProxy, url, expected] of table)
    it(`matches ${noProxy || '(empty)'} against ${url}`, () => expect(straight(noProxy, url)).toBe(expected))
})

describe('TLS certificates', () => {
  it('of an extra authority are trusted only by the client that sets it', async () => {
    await using server = await secureServer()
    const { lookup } = names({ 'secure.test': '127.0.0.1', 'other.test': '127.0.0.1' })
    const url = `https://secure.test:${server.port}/`
    const trusting = guard({ privateNetwork: true, lookup, ca: tls.ca })
    expect(await (await trusting(url)).text()).toBe('tls')
    await trusting(url).then((response) => response.text())
    expect(server.sockets).toHaveLength(1)
    const unknown = guard({ privateNetwork: true, lookup })(url).catch((error) => error.message)
    expect(await unknown).toMatch(/is self-signed or of an unknown issuer \((UNABLE_TO_VERIFY|SELF_SIGNED)/)
    const wrongName = trusting(`https://other.test:${server.port}/`).catch((error) => error.message)
    expect(await wrongName).toContain('TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)')
    await sleep(10)
    expect(server.requests).toHaveLength(2)
  })

  it('are reported as a TLS failure for a server without TLS', async () => {
    await using server = await listen((_, response) => response.end())
    const fetch = guard({ privateNetwork: true })
    await expect(fetch(`https://127.0.0.1:${server.port}/`)).rejects.toMatchObject({
      code: 'server-unreachable',
      message: expect.stringContaining('TLS'),
    })
  })
})
