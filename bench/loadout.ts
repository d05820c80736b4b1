/**
 * What it costs to work out a thread's loadout from a warm host: 50 toolkits, 2,000 tools. And what 10,000 users cost in
 * memory. `node --expose-gc bench/loadout.ts`.
 */
import { randomBytes } from 'node:crypto'
import { defineToolkit, masterKeyRing } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { memory } from '@loadout/core/storage/memory'
import { pglite } from '@loadout/core/storage/pglite'
import { interleave, median, printTable } from './connections/statistics.ts'

const TOOLKITS = 50
const TOOLS = 40
const ROUNDS = 9
const CALLS = 200
const USERS = 10_000
const OWN_TOOLS = 10

const manifest = (toolkit: number, tool: number) => ({
  name: `tool_${tool}`,
  description: `Tool ${tool} of toolkit ${toolkit}: lists, reads and changes what there is, as its name says.`,
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, limit: { type: 'integer', minimum: 1 }, query: { type: 'string' } },
    required: ['id'],
  },
  execute: () => 'done',
})
const kit = (index: number, tools: number) =>
  defineToolkit({
    id: `kit-${index}`,
    server: { type: 'custom', tools: Array.from({ length: tools }, (_, tool) => manifest(index, tool)) as never },
  })

const host = createServices({ storage: memory() })
await host.preferences.update('ann', { maxServersPerThread: 1000 })
for (let index = 0; index < TOOLKITS; index++) {
  const owner = index % 2 === 0 ? ({ tier: 'app' } as const) : ({ tier: 'user', userId: 'ann' } as const)
  const { stored } = await host.toolkits.register({ name: `Kit ${index}`, ...kit(index, TOOLS) }, owner)
  await host.catalog.introspect(stored, 'ann')
}
await speed(host)
await host.close()
await size()

async function speed(host: HostServices): Promise<void> {
  const plain = host.thread({ userId: 'ann', threadId: 'plain' })
  const chosen = host.thread({ userId: 'ann', threadId: 'chosen' })
  await chosen.use(Array.from({ length: 40 }, (_, index) => `kit-${index}`))
  await chosen.deactivate('*.tool_1?', 'kit-3.tool_2', 'kit-4')
  const { tools } = await plain.loadout()
  if (tools.length !== TOOLKITS * TOOLS) throw new Error(`${tools.length} tools`)
  console.log(
    `\nA thread's loadout: ${TOOLKITS} toolkits, ${tools.length} tools; ${ROUNDS} rounds of ${CALLS}, p50 in µs`,
  )
  const contenders = [
    ['no choice', () => plain.loadout()],
    ['a list, tombstones and globs', () => chosen.loadout()],
    ['and a call that narrows', () => chosen.loadout({ only: ['kit-1*'], except: ['*.tool_3'], maxTools: 100 })],
    ['explain', () => chosen.explain()],
  ] as const
  for (const [, work] of contenders) for (let i = 0; i < CALLS; i++) await work()
  const times = await interleave(
    ROUNDS,
    contenders.map(([name, work]) => [name, () => p50(work)] as const),
  )
  printTable([
    ['what', 'p50 µs', 'least–most of the rounds'],
    ...Object.entries(times).map(([name, all]) => [
      name,
      median(all).toFixed(0),
      `${Math.min(...all).toFixed(0)}–${Math.max(...all).toFixed(0)}`,
    ]),
  ])
}

async function p50(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const start = performance.now()
    await work()
    times.push((performance.now() - start) * 1000)
  }
  return median(times)
}

/** Each of many users has a toolkit beside the app's; all ask, and what the host keeps for them is measured. */
async function size(): Promise<void> {
  const many = createServices({ storage: pglite(), keyRing: await masterKeyRing(randomBytes(32).toString('base64')) })
  console.log(
    `\n${USERS} users with a toolkit of ${OWN_TOOLS} tools each, in PGlite; the app has ${TOOLKITS} toolkits of ${TOOLS}`,
  )
  for (let index = 0; index < TOOLKITS; index++) {
    const { stored } = await many.toolkits.register({ name: `Kit ${index}`, ...kit(index, TOOLS) }, { tier: 'app' })
    await many.catalog.introspect(stored, 'ann')
  }
  const users = Array.from({ length: USERS }, (_, index) => `user-${index}`)
  for (const userId of users) {
    const { stored } = await many.toolkits.register({ name: 'Mine', ...kit(900, OWN_TOOLS) }, { tier: 'user', userId })
    await many.catalog.introspect(stored, userId)
  }
  await many.app.update({})
  const rows = [['users who asked', 'kept for them, MB', 'KB a user']]
  const base = heap()
  let asked = 0
  for (const until of [100, 1000, 5000, USERS]) {
    for (; asked < until; asked++) await many.thread({ userId: users[asked] as string, threadId: 't' }).loadout()
    const retained = heap() - base
    rows.push([String(until), (retained / 1e6).toFixed(1), (retained / 1000 / until).toFixed(1)])
  }
  printTable(rows)
  await many.close()
}

function heap(): number {
  for (let i = 0; i < 4; i++) (globalThis as { gc?: () => void }).gc?.()
  return process.memoryUsage().heapUsed
}
