import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type Loopback, listen, names, watchConnects } from '../../../../../../test/loopback.ts'
import { sendRequest } from '../client/request.ts'
import { createAddressGuard } from './address-guard.ts'
import { createRoutes } from './agents.ts'
import { createGuardedFetch, type GuardOptions } from './guarded-fetch.ts'

let canary: Loopback
let start: Loopback
const connects = watchConnects()

beforeAll(async () => {
  canary = await listen((_, response) => response.end('secret'))
  start = await listen((request, response) => {
    const to = new URL(request.url ?? '', 'http://start.test').searchParams.get('to')
    response.writeHead(to ? 302 : 200, to ? { location: to } : {}).end('start')
  })
})
afterAll(async () => {
  connects.stop()
  await canary[Symbol.asyncDispose]()
  await start[Symbol.asyncDispose]()
})
afterEach(() => {
  connects.attempts.length = 0
  expect(canary.requests).toEqual([])
  expect(canary.sockets).toEqual([])
})

async function ask(url: string, options: GuardOptions = {}): Promise<string> {
  const guarded = createGuardedFetch({ connectTimeoutMs: 60_000, ...options })
  const code = await codeOf(guarded.fetch(url))
  await guarded.close()
  return code
}

describe('the address guard on DNS names', () => {
  const answers: Record<string, string[]> = {
    'loopback.test': ['127.0.0.1'],
    'loopback6.test': ['::1'],
    'mapped.test': ['::ffff:127.0.0.1'],
    'mapped-hex.test': ['::ffff:7f00:1'],
    'zone.test': ['fe80::1%lo'],
    'ten.test': ['10.1.2.3'],
    'nat.test': ['100.64.1.1'],
    'meta.test': ['169.254.169.254'],
    'meta6.test': ['fd00:ec2::254'],
    'nat64.test': ['64:ff9b::a00:1'],
    'zero.test': ['0.0.0.0'],
    'mixed.test': ['93.184.216.34', '127.0.0.1'],
    'mixed-last6.test': ['2606:2800:220:1::1', '93.184.216.34', '::1'],
    'mixed-first.test': ['192.168.0.1', '93.184.216.34'],
    'nonsense.test': ['not an address'],
  }
  for (const name of Object.keys(answers))
    it(`blocks ${name} that resolves to ${answers[name]}`, async () => {
      const { lookup } = names(answers)
      expect(await ask(`http://${name}:${canary.port}/`, { lookup })).toBe('address-blocked')
      expect(await ask(`http://${name.toUpperCase()}.:${canary.port}/`, { lookup })).toBe('address-blocked')
      expect(connects.attempts).toEqual([])
    })

  it('reports a name without addresses as unreachable, not as blocked', async () => {
    const { lookup } = names({ 'empty.test': [] })
    expect(await ask('http://empty.test/', { lookup })).toBe('server-unreachable')
    expect(await ask('http://unknown.test/', { lookup })).toBe('server-unreachable')
  })

  it('resolves a name once per connection and connects to the checked address', async () => {
    const turns = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']]
    const { lookup, asked: lookups } = names({ 'rebind.test': () => turns.shift() ?? [] })
    const guarded = createGuardedFetch({ lookup, allow: ['127.0.0.1'] })
    const url = `http://rebind.test:${start.port}/`
    expect(await (await guarded.fetch(url)).text()).toBe('start')
    expect(lookups).toHaveLength(1)
    start.server.closeAllConnections()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(await codeOf(guarded.fetch(url))).toBe('address-blocked')
    expect(lookups).toHaveLength(2)
    expect(connects.attempts).toEqual(['127.0.0.1'])
    await guarded.close()
  })

  it('checks the peer address again before it writes a byte', async () => {
    const bytes: Buffer[] = []
    await using server = await listen((_, response) => response.end())
    server.server.on('connection', (socket) => socket.prependListener('data', (chunk) => bytes.push(chunk)))
    const guard = createAddressGuard()
    const slipped = createAddressGuard({ lookup: names({ 'slip.test': '127.0.0.1' }).lookup, privateNetwork: true })
    const routes = createRoutes({
      guard: { ...guard, lookup: slipped.lookup },
      connectTimeoutMs: 60_000,
      maxSocketsPerHost: 10,
      proxy: undefined,
      ca: undefined,
    })
    const url = new URL(`http://slip.test:${server.port}/`)
    const request = {
      url,
      method: 'GET',
      headers: ['host', url.host, 'x-secret', '1'],
      payload: undefined,
      repeatable: true,
    }
    const sent = sendRequest({
      ...request,
      route: routes.to(url),
      signal: undefined,
      maxResponseBytes: 1000,
      traffic: { closed: false, requests: new Set() },
    })
    expect(await codeOf(sent)).toBe('address-blocked')
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(server.requests).toEqual([])
    expect(bytes).toEqual([])
    routes.close()
  })
})

describe('the address guard on redirects', () => {
  const targets = [
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://localhost:PORT/',
    'http://inner.test:PORT/',
    '//127.0.0.1:PORT/',
    'http://169.254.169.254/latest/meta-data/',
    'http://metadata.google.internal/',
    'http://10.0.0.1/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://user:password@start.test/',
  ]
  const addresses = { 'start.test': '127.0.0.1', 'inner.test': '127.0.0.1' }
  for (const target of targets)
    it(`blocks ${target} directly and at the end of a chain`, async () => {
      const options = { lookup: names(addresses).lookup, allow: ['start.test'] }
      const to = encodeURIComponent(target.replaceAll('PORT', String(canary.port)))
      const base = `http://start.test:${start.port}/`
      expect(await ask(`${base}?to=${to}`, options)).toBe('address-blocked')
      const chained = encodeURIComponent(`${base}?to=${encodeURIComponent(`/?to=${to}`)}`)
      expect(await ask(`${base}?to=${chained}`, options)).toBe('address-blocked')
      expect(new Set(connects.attempts)).toEqual(new Set(['127.0.0.1']))
    })
})

describe('the address guard', () => {
  const check =
    (url: string, options = {}) =>
    () =>
      createAddressGuard(options).checkUrl(new URL(url))

  it('allows public addresses in every notation', () => {
    for (const host of [
      '93.184.216.34',
      '[2606:2800:220:1::1]',
      '[::ffff:93.184.216.34]',
      '[64:ff9b::5db8:d822]',
      'a.example',
    ])
      expect(check(`https://${host}/`)).not.toThrow()
  })

  it('allows private addresses with privateNetwork', () => {
    for (const host of [
      '127.0.0.1',
      '0x7f.1',
      '10.0.0.1',
      '[::1]',
      '[fd00::1]',
      '[fe80::1]',
      'localhost',
      'a.localhost',
      '0.0.0.0',
    ])
      expect(check(`http://${host}/`, { privateNetwork: true })).not.toThrow()
  })

  it('allows names, suffixes, addresses and CIDRs of the operator', async () => {
    expect(check('http://10.1.2.3/', { allow: ['10.0.0.0/8'] })).not.toThrow()
    expect(check('http://[::ffff:10.1.2.3]/', { allow: ['10.0.0.0/8'] })).not.toThrow()
    expect(check('http://11.1.2.3/', { allow: ['10.0.0.0/8'] })).not.toThrow()
    expect(check('http://192.168.0.1/', { allow: ['10.0.0.0/8'] })).toThrow()
    expect(check('http://[fd00::1]/', { allow: ['fd00::/16'] })).not.toThrow()
    expect(check('http://169.254.169.254/', { allow: ['169.254.169.254'] })).not.toThrow()
    const guard = createAddressGuard({ allow: ['intranet.test', '*.corp.test', 'localhost'] })
    for (const host of ['intranet.test', 'a.b.corp.test', 'localhost']) guard.checkAddress('10.0.0.1', host)
    for (const host of ['corp.test', 'evilcorp.test', 'x.intranet.test'])
      expect(() => guard.checkAddress('10.0.0.1', host)).toThrow()
    expect(() => guard.checkAddress('169.254.169.254', 'intranet.test')).toThrow()
  })

  it('rejects an invalid allow entry', () => {
    for (const entry of ['10.0.0.0/99', '999.1.1.1', '', 'http://x.test', 'a b'])
      expect(() => createAddressGuard({ allow: [entry] })).toThrow('allow')
  })
})
