/** Many users of many processes look at one toolkit of the app at once: one catalog comes of it, and no error. */
import { afterAll, afterEach, beforeEach, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { acceptChanges, storeCatalog } from '../../src/catalog/store-catalog.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { processKeyRing } from '../../src/credentials/aes-key-ring.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { postgres } from '../../src/storage/postgres.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { type HttpFaultServer, startFaultServer } from '../fixtures/fault-http.ts'
import type { FaultTool } from '../fixtures/fault-script.ts'

const PROCESSES = 5
const USERS = 8
const { url, drop } = await createDatabase(inject('postgresUrl'))
afterAll(() => drop())
// One database has one ring.
const keyRing = processKeyRing()

let hosts: HostServices[]
let server: HttpFaultServer
/** Lists in another order each time, and every second time other tools. */
const script = {
  asked: 0,
  varies: false,
  get tools(): FaultTool[] {
    const odd = this.varies && this.asked++ % 2 === 1
    const own = odd ? 'odd' : 'even'
    const names = [...Array.from({ length: 30 }, (_, i) => `both-${i}`), ...[0, 1, 2].map((i) => `${own}-${i}`)]
    const shuffled = names.map((name) => ({ name, at: Math.random() })).sort((a, b) => a.at - b.at)
    return shuffled.map(({ name }) => ({ name, description: own, inputSchema: { type: 'object' } }))
  },
}

beforeEach(async () => {
  server = await startFaultServer(script)
  hosts = Array.from({ length: PROCESSES }, () =>
    createServices({ storage: postgres({ url }), keyRing, drivers: nodeDrivers({ guard: { privateNetwork: true } }) }),
  )
  await Promise.all(hosts.map((host) => host.ready()))
})
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.close()))
  await server.close()
})

const users = Array.from({ length: USERS }, (_, i) => `user${i}`)

/** Everybody looks at once, while operators accept what they see; what failed. */
async function lookAll(name: string): Promise<string[]> {
  const looks = hosts.flatMap((host) =>
    users.map(async (userId) => host.catalog.introspect(await host.toolkits.find(userId, name), userId)),
  )
  const accepts = hosts.map(async (host, i) => {
    await new Promise((resolve) => setTimeout(resolve, i * 20))
    return host.catalog.accept(await host.toolkits.find('user0', name), { userId: 'operator' })
  })
  const ended = await Promise.allSettled<unknown>([...looks, ...accepts])
  const failed = ended.filter((one) => one.status === 'rejected')
  return failed.map(({ reason }) => `${reason.code}: ${reason.message} ${reason.cause ?? ''}`)
}

/** The tools that each user sees on each host, as one text each. */
async function seen(name: string): Promise<string[]> {
  const views = hosts.flatMap((host) => users.map((userId) => host.views.one(userId, name)))
  return (await Promise.all(views)).map(({ tools }) => tools.map(({ name, pin }) => `${name} ${pin}`).join('\n'))
}
/** Waits until every process knows the toolkit. */
async function known(name: string): Promise<void> {
  const find = (host: HostServices) =>
    host.toolkits.find('user0', name).then(
      () => true,
      () => false,
    )
  await expect.poll(() => Promise.all(hosts.map(find))).toEqual(hosts.map(() => true))
}

it('concurrent first discoveries store one catalog without errors', async () => {
  script.varies = false
  for (let round = 0; round < 5; round++) {
    const name = `kit-${round}`
    await hosts[0]?.toolkits.register({ name, url: server.url }, { tier: 'app' })
    await known(name)
    expect(await lookAll(name)).toEqual([])
    const lists = async () => [...new Set(await seen(name))].map((tools) => tools.split('\n').length)
    await expect.poll(lists).toEqual([33])
  }
})

it('concurrent discoveries of different tool lists store one complete list', async () => {
  script.varies = true
  await hosts[0]?.toolkits.register({ name: 'fickle', url: server.url }, { tier: 'app' })
  await known('fickle')
  for (let round = 0; round < 8; round++) {
    expect(await lookAll('fickle')).toEqual([])
    const rows = await hosts[0]?.storage.transaction({ userId: 'user0' }, async (tx) => {
      const [config] = await tx.list('userServerConfigs', { where: { slug: 'fickle' } })
      if (!config) throw new Error('no config')
      const tools = await tx.list('userServerTools', { where: { uscoId: config.uscoId } })
      const pins = await tx.list('pins', { where: { uscoId: config.uscoId } })
      return { config, tools, pins }
    })
    const active = rows?.tools.filter((row) => row.isActive) ?? []
    // All of one look, and nothing of the other.
    expect([round, new Set(active.map((row) => row.description)).size, active.length]).toEqual([round, 1, 33])
    const [own] = active.map((row) => row.description)
    expect(active.filter((row) => row.name.startsWith(own ?? '')).length).toBe(3)
    expect(rows?.config.introspectionStatus).toBe('success')
    // What is pinned beside what was accepted is what the server was heard to say last.
    const now = new Map(active.map((row) => [row.name, row.fingerprint]))
    for (const pin of rows?.pins ?? [])
      if (now.has(pin.name)) expect(pin.changedFingerprint ?? pin.fingerprint).toBe(now.get(pin.name))
  }
})

/** The same storage, with something that happens as soon as a transaction has read the pins for the first time. */
function afterPinsRead(storage: Storage, happen: () => Promise<unknown>): Storage {
  let happened = false
  return {
    ...storage,
    transaction: (access, work) =>
      storage.transaction(access, (tx) =>
        work({
          get: (...args) => tx.get(...args),
          insert: (...args) => tx.insert(...args),
          insertAll: (...args) => tx.insertAll(...args),
          update: (...args) => tx.update(...args),
          delete: (...args) => tx.delete(...args),
          async list(collection, query) {
            const rows = await tx.list(collection, query)
            if (collection === 'pins' && !happened) {
              happened = true
              await happen()
            }
            return rows
          },
        }),
      ),
  }
}

it('accepting a change during a discovery does not accept the tools that the discovery finds', async () => {
  const [{ storage, toolkits }] = hosts as [HostServices]
  const { stored } = await toolkits.register({ name: 'pinned', url: server.url }, { tier: 'app' })
  const found = (description: string) => ({
    manifests: [{ name: 'echo', description, inputSchema: { type: 'object' as const } }],
    setAside: [],
    warnings: [],
    trusted: true,
  })
  await storeCatalog(storage, stored, found('first'))
  await storeCatalog(storage, stored, found('second'))
  const accept = () => acceptChanges(storage, stored, { userId: 'operator' })
  await storeCatalog(afterPinsRead(storage, accept), stored, found('first'))
  const [pin] = await storage.transaction({ userId: 'user0' }, (tx) =>
    tx.list('pins', { where: { uscoId: stored.uscoId } }),
  )
  // The second was accepted, and the server says the first again.
  expect(pin).toMatchObject({ manifestJson: { description: 'second' }, changedManifestJson: { description: 'first' } })
})
