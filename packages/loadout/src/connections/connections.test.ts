/** The public side of connections: a call around the pipeline is not possible with anything that a host hands out. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HttpFaultServer, startFaultServer } from '../../test/fixtures/fault-http.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import { nodeDrivers } from './node-drivers.ts'

let server: HttpFaultServer
let host: HostServices
beforeAll(async () => {
  server = await startFaultServer({})
  host = createServices({ policy: [rule('*', 'deny')], drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
})
afterAll(async () => {
  await host.close()
  await server.close()
})

/** Everything that can be reached by properties, with its path. Methods are looked at, not called. */
function* reachable(root: object): Generator<[string, unknown]> {
  const seen = new Set<unknown>()
  const waiting: Array<[string, unknown]> = [['host', root]]
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    yield next
    const [path, value] = next
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    for (let at: object | null = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
      for (const name of Object.getOwnPropertyNames(at))
        if (name !== 'constructor') waiting.push([`${path}.${name}`, (value as Record<string, unknown>)[name]])
  }
}

it('host.connections shows open connections and exposes nothing that calls a tool', async () => {
  const { stored } = await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'user', userId: 'ann' })
  await host.catalog.introspect(stored, 'ann')
  const lines = host.connections.status()
  expect(lines).toMatchObject([{ toolkit: 'kit', leases: 0, info: { transport: 'http' } }])
  expect(host.connections).not.toHaveProperty('use')
  const named = [...reachable(host), ...reachable(lines)].filter(([path]) => /\.(use|callTool|connection)$/.test(path))
  // `activations.use` writes a list, and `host.use` adds a stage to the pipeline: neither calls a tool.
  expect(named.map(([path]) => path).sort()).toEqual(['host.activations.use', 'host.use'])
  expect(host.connections.stateOf(stored, 'ann')).toMatchObject({ status: 'connected' })
  await host.connections.reset(stored.uscoId, 'ann')
  expect(host.connections.status()).toEqual([])
})
