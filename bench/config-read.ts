/** What a cached read of a user's toolkits saves against reading the database: ratios, side by side in one run. */
import { join } from 'node:path'
import type { Storage } from '@loadout/core'
import { keyFileRing } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'
import { pglite } from '@loadout/core/storage/pglite'
import { postgres } from '@loadout/core/storage/postgres'
import { startDatabase } from './start-database.ts'

const TOOLKITS = 20
const ROUNDS = 9
const READS = 400

const { folder, url, stop } = await startDatabase()

try {
  console.log(
    `A user's ${TOOLKITS} toolkits, ${ROUNDS} interleaved rounds of ${READS} reads; microseconds a read, median [least–most]`,
  )
  await measure('PGlite', pglite({ dataDir: join(folder, 'pglite') }))
  await measure('PostgreSQL', postgres({ url }))
} finally {
  await stop()
}

async function measure(name: string, storage: Storage): Promise<void> {
  const host = createServices({ storage, keyRing: await keyFileRing(join(folder, `${name}.keys.json`)) })
  for (let i = 0; i < TOOLKITS; i++)
    await host.toolkits.register(
      { name: `Kit ${i}`, command: 'npx', args: ['-y', `server-${i}`] },
      { tier: 'user', userId: 'ann' },
    )
  const stored = () => storage.transaction({ userId: 'ann' }, (tx) => tx.list('userServerConfigs'))
  const rounds = { cached: [] as number[], stored: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    rounds.cached.push(await timed(() => host.toolkits.list('ann')))
    rounds.stored.push(await timed(stored))
  }
  const [cached, fromDatabase] = [median(rounds.cached), median(rounds.stored)]
  console.log(
    `${name.padEnd(11)} cached ${show(rounds.cached)}   database ${show(rounds.stored)}   ratio ${(fromDatabase / cached).toFixed(0)} : 1`,
  )
  await host.close()
}

async function timed(read: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  for (let i = 0; i < READS; i++) await read()
  return ((performance.now() - start) * 1000) / READS
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function show(values: number[]): string {
  return `${median(values).toFixed(1)} [${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)}]`
}
