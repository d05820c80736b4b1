/** The way out: exactly the declared hosts, and those only where the guard lets them be reached. */
import { createServer, type Server } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSandboxed, type SandboxedServer, sandboxed } from '../../../../test/fixtures/sandboxed-server.ts'
import type { Drivers } from '../../drivers.ts'

const PUBLIC = { 'api.example': '127.0.0.1', 'other.example': '127.0.0.1', 'private.example': '10.0.0.7' } as Record<
  string,
  string
>
const lookup = async (name: string) => {
  const address = PUBLIC[name]
  if (address === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  return [{ address, family: 4 }]
}

let server: Server
let drivers: Drivers
let inside: SandboxedServer
const seen: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.headers.host} ${request.url}`)
    response.setHeader('x-proxy-seen', String(request.headers['proxy-connection'] ?? 'no'))
    request.pipe(response)
    if (request.method === 'GET') response.end('reached')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  drivers = sandboxed({ guard: { lookup, allow: ['127.0.0.1'] } })
  inside = await openSandboxed(drivers, { hosts: [`api.example:${port()}`, 'private.example'] })
})
afterAll(async () => {
  await drivers.close()
  server.close()
})

const port = () => (server.address() as { port: number }).port
const get = (url: string) => inside.run(`const r = await fetch('${url}'); return [r.status, await r.text()]`)
/** As older programs ask: the whole URL in one request to the proxy. */
const getPlainly = (url: string) =>
  inside.run(
    `return new Promise((resolve, reject) => require('node:http').get({ host: '127.0.0.1', port: 3128, path: '${url}' }, (r) => resolve(r.statusCode)).on('error', reject))`,
  )
const connectTo = (authority: string) =>
  inside.run(
    `return new Promise((resolve, reject) => { const s = require('node:net').connect(3128, '127.0.0.1', () => s.write('CONNECT ${authority} HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n')); s.on('data', (d) => { resolve(d.toString().split('\\r\\n')[0]); s.destroy() }); s.on('error', reject); s.on('close', () => resolve('closed')) })`,
  )

describe('a sandbox with declared hosts', () => {
  it('reaches them with a plain fetch', async () => {
    expect(await get(`http://api.example:${port()}/a?b=c`)).toEqual({ value: [200, 'reached'] })
    expect(await getPlainly(`http://api.example:${port()}/plain`)).toEqual({ value: 200 })
    expect(seen).toContain(`GET api.example:${port()} /plain`)
    expect(seen).toContain(`GET api.example:${port()} /a?b=c`)
    const post = `const r = await fetch('http://api.example:${port()}/', { method: 'POST', body: 'x'.repeat(100000) }); return (await r.text()).length`
    expect(await inside.run(post)).toEqual({ value: 100_000 })
  })

  it('reaches no other name, port, literal address or private host', async () => {
    const before = seen.length
    for (const url of [
      `http://other.example:${port()}/`,
      `http://127.0.0.1.nip.example:${port()}/`,
      `http://sub.api.example:${port()}/`,
      'http://api.example:81/',
      'http://private.example/',
      'http://169.254.169.254/latest/meta-data/',
    ]) {
      expect([url, (await get(url)).value]).toEqual([url, undefined])
      expect([url, (await getPlainly(url)).value]).toEqual([url, 403])
    }
    for (const authority of [
      `other.example:${port()}`,
      `127.0.0.1:${port()}`,
      `[::1]:${port()}`,
      `2130706433:${port()}`,
      `api.example@127.0.0.1:${port()}`,
      'private.example:443',
      'api.example:22',
      'localhost:5432',
    ])
      expect([authority, (await connectTo(authority)).value]).toEqual([authority, 'HTTP/1.1 403 Refused'])
    expect(seen.length).toBe(before)
  })

  it('reaches them by CONNECT tunnel and closes invalid requests', async () => {
    expect((await connectTo(`api.example:${port()}`)).value).toBe('HTTP/1.1 200 Connection established')
    for (const junk of ['', 'api.example', ':1', 'x:99999', '/etc/passwd:80'])
      expect([junk, (await connectTo(junk)).value]).toEqual([junk, expect.stringMatching(/^(HTTP\/1\.1 4|closed)/)])
  })

  it('has no other way out because its loopback is separate', async () => {
    const tcp = createTcp((socket) => socket.end('reached'))
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    const direct = `return new Promise((resolve, reject) => require('node:net').connect(${(tcp.address() as { port: number }).port}, '127.0.0.1').on('connect', () => resolve('reached')).on('error', reject))`
    expect((await inside.run(direct)).error).toBe('ECONNREFUSED')
    tcp.close()
    const files = await inside.run(`return require('node:fs').readdirSync('/run/loadout')`)
    expect(files).toEqual({ value: ['proxy.sock'] })
  })

  it('has no relay if the list is empty', async () => {
    const other = await openSandboxed(drivers)
    expect((await other.run(`return process.env.HTTPS_PROXY ?? 'none'`)).value).toBe('none')
    expect((await other.run(`return require('node:fs').existsSync('/run')`)).value).toBe(false)
    await other.connection.close()
  })
})

describe('the host machine', () => {
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const own = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address

  it('is not reachable from a sandbox under any name, even with privateNetwork', async () => {
    const open = sandboxed({ guard: { lookup, privateNetwork: true } })
    const names = ['127.0.0.1', 'localhost', 'x.localhost', '127.0.0.2', '0.0.0.0', 'api.example', own ?? '127.0.0.3']
    const greedy = await openSandboxed(open, { hosts: names.map((name) => `${name}:${port()}`) })
    const before = seen.length
    for (const name of [...names, '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]']) {
      const script = `return new Promise((resolve, reject) => require('node:http').get({ host: '127.0.0.1', port: 3128, path: 'http://${name}:${port()}/' }, (r) => resolve(r.statusCode)).on('error', reject))`
      expect([name, (await greedy.run(script)).value]).toEqual([name, 403])
    }
    expect(seen.length).toBe(before)
    await open.close()
  })

  it('is reachable if the operator allows its name or address', async () => {
    for (const allow of [['127.0.0.0/8'], ['api.example']]) {
      const open = sandboxed({ guard: { lookup, allow } })
      const there = await openSandboxed(open, { hosts: [`api.example:${port()}`] })
      const got = await there.run(`return (await fetch('http://api.example:${port()}/')).status`)
      expect([allow, got]).toEqual([allow, { value: 200 }])
      await open.close()
    }
  })
})
