/** After a restart, tools of stored servers come from the storage: no process is started to list, search or select them. */
import { expect, it } from 'vitest'
import type { Drivers } from '../../src/connections/drivers.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { memory } from '../../src/storage/memory.ts'
import { startFaultServer } from '../fixtures/fault-http.ts'

const SERVERS = 79
const ann = { userId: 'ann', threadId: 'work' }

/** Counts connections. `url` answers instead of the command, so that no test starts 79 processes. */
function counted(url?: string): { drivers: Drivers; opened: () => number } {
  const real = nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } })
  let count = 0
  const drivers: Drivers = {
    ...real,
    open(target, hooks, tier) {
      count++
      const server = { type: 'http' as const, url: url ?? '', headers: {}, auth: { type: 'none' as const } }
      return real.open(url === undefined ? target : ({ ...target, server } as typeof target), hooks, tier)
    },
  }
  return { drivers, opened: () => count }
}

it('lists, searches and selects the tools of 79 servers after a restart without starting one', async () => {
  const storage = memory()
  const answering = await startFaultServer({})
  const before = counted(answering.url)
  // A host closes its storage, and memory would be lost with it.
  const shared = { ...storage, close: async () => {} }
  const first = createServices({ storage: shared, drivers: before.drivers })
  for (let at = 0; at < SERVERS; at++) {
    const record = { name: `kit-${at}`, command: 'never-started', args: [String(at)] }
    const { stored } = await first.toolkits.register(record, { tier: 'user', userId: 'ann' })
    await first.catalog.introspect(stored, 'ann')
  }
  const known = (await first.views.list('ann')).map(({ id, tools }) => [id, tools.map(({ name }) => name)])
  expect(before.opened()).toBe(SERVERS)
  await first.close()
  await answering.close()

  const after = counted()
  await using second = createServices({ storage, drivers: after.drivers, policy: [rule('*', 'allow')] })
  const views = await second.views.list('ann')
  expect(views.map(({ id, tools }) => [id, tools.map(({ name }) => name)])).toEqual(known)
  expect(views.every(({ tools }) => tools.length > 0)).toBe(true)
  const loadout = await second.thread(ann).loadout()
  expect(new Set(loadout.tools.map(({ toolkit }) => toolkit)).size).toBe(SERVERS)
  const selection = await second.thread(ann).select({ prompt: 'echo a text', limit: 3 })
  expect(selection.dropped).toEqual([])
  expect(after.opened()).toBe(0)
})
