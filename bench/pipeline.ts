/**
 * What the whole pipeline costs (policy, limits, audit in a journal, metrics) against the bare client of the SDK, which has
 * none of it: on the same server and in the same era, in interleaved rounds. `node bench/pipeline.ts`.
 */
import { join } from 'node:path'
import { masterKeyRing, rule, type Storage } from '@loadout/core'
import { fileJournal } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'
import { memory } from '@loadout/core/storage/memory'
import { pglite } from '@loadout/core/storage/pglite'
import { postgres } from '@loadout/core/storage/postgres'
import { bare, drivers, type Open, OWNER, serverOf } from './connections/contenders.ts'
import { interleave, median, printTable, ratio } from './connections/statistics.ts'
import { httpTarget, stdioTarget, type Target } from './connections/targets.ts'
import { startDatabase } from './start-database.ts'

const ROUNDS = 9
const CALLS = 300
const WIDE = 64
const WIDE_MS = 8000

const { folder, url, stop } = await startDatabase()
const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')

const STORAGES: Record<string, (name: string) => Storage> = {
  memory: () => memory(),
  PGlite: () => pglite(),
  PostgreSQL: () => postgres({ url }),
}

/** A host with all that guards a call: rules, limits that are far, and a log in a journal. */
async function whole(target: Target, storage: Storage, name: string): Promise<Open> {
  const host = createServices({
    storage,
    keyRing: await masterKeyRing(key),
    drivers: drivers(),
    policy: [rule('other.*', 'deny'), rule('*', { readOnly: true }, 'allow'), rule('bench', 'allow')],
    app: { limits: { maxCallsPerHour: 1_000_000_000, maxTokensPerDay: 1_000_000_000_000 } },
    audit: { journal: fileJournal({ dir: join(folder, `journal-${name}`) }) },
  })
  await host.ready()
  const { stored } = await host.toolkits.register({ name: 'bench', server: serverOf(target) }, OWNER)
  await host.catalog.introspect(stored, OWNER.userId)
  const request = { userId: OWNER.userId, toolkit: 'bench', tool: 'echo', caller: { type: 'direct' } as const }
  return {
    async call() {
      const outcome = await host.calls.start({ ...request, arguments: { text: 'hello' } }).outcome
      if (!('content' in outcome)) throw outcome.error
    },
    close: () => host.close(),
  }
}

const TARGETS: Array<[string, () => Promise<Target>]> = [
  ['stdio, lean, 2025', async () => stdioTarget('lean-stdio', 'legacy')],
  ['stdio, official, 2026', async () => stdioTarget('official-stdio', 'modern')],
  ['HTTP, lean, 2025', () => httpTarget('lean-http', 'legacy', 'json')],
  ['HTTP, official, 2025, SSE', () => httpTarget('official-http', 'legacy', 'sse')],
  ['HTTP, official, 2026', () => httpTarget('official-http', 'modern', 'json')],
]

try {
  console.log(`The whole pipeline against the bare client: ${ROUNDS} rounds of ${CALLS} calls, one after another`)
  const rows = [
    ['server', 'storage', 'bare p50 µs', 'added p50 µs', 'p50 ratio', 'added p99 µs', `calls a second, ${WIDE} wide`],
  ]
  for (const [name, begin] of TARGETS) {
    const target = await begin()
    for (const [storage, open] of Object.entries(STORAGES))
      rows.push([name, storage, ...(await compare(target, storage, open(name)))])
    if (target.type === 'http') target.child.kill()
  }
  printTable(rows)
} finally {
  await stop()
}
process.exit(0)

async function compare(target: Target, name: string, storage: Storage): Promise<string[]> {
  const one = await bare(target)
  const ours = await whole(target, storage, `${name}-${target.type}-${target.era}`)
  for (const { call } of [one, ours]) for (let i = 0; i < CALLS * 2; i++) await call()
  const p99: Record<string, number[]> = { bare: [], ours: [] }
  const p50 = await interleave(ROUNDS, [
    ['bare', () => measure(one, p99.bare as number[])],
    ['ours', () => measure(ours, p99.ours as number[])],
  ])
  const wide = { bare: await wideOf(one), ours: await wideOf(ours) }
  await one.close()
  await ours.close()
  const added = (of: { bare: number[]; ours: number[] }) => (median(of.ours) - median(of.bare)).toFixed(0)
  return [
    median(p50.bare).toFixed(0),
    added(p50),
    ratio(p50.ours, p50.bare).text,
    added(p99 as { bare: number[]; ours: number[] }),
    `${wide.ours.toFixed(0)} (bare ${wide.bare.toFixed(0)})`,
  ]
}

async function measure({ call }: Open, p99: number[]): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const start = performance.now()
    await call()
    times.push((performance.now() - start) * 1000)
  }
  times.sort((a, b) => a - b)
  p99.push(times[Math.floor(CALLS * 0.99)] as number)
  return median(times)
}

/** Long enough that what is done behind calls, as the shipping of the log, is in it. */
async function wideOf({ call }: Open): Promise<number> {
  const start = performance.now()
  let made = 0
  const work = async () => {
    while (performance.now() - start < WIDE_MS) {
      await call()
      made++
    }
  }
  await Promise.all(Array.from({ length: WIDE }, work))
  return made / ((performance.now() - start) / 1000)
}
