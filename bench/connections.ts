/**
 * What our connections cost against the bare client of the SDK: on the same server, in the same era, in interleaved
 * rounds. A ratio is that of one round; shown are their median and [least–most]. `node bench/connections.ts [part …]`.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createServices } from '@loadout/core/services'
import {
  bare,
  bareClient,
  type Contender,
  drivers,
  OWNER,
  ourConnection,
  ourHost,
  serverOf,
} from './connections/contenders.ts'
import { floor } from './connections/floor.ts'
import { interleave, median, printTable, ratio } from './connections/statistics.ts'
import { httpTarget, stdioTarget, type Target } from './connections/targets.ts'

const ROUNDS = 11
const CALLS = 400
const START_ROUNDS = 9
const HEAP_ROUNDS = 9
const SERVERS = 10
const HEAP_CONNECTIONS = 100

const PARTS: Record<string, () => Promise<void>> = { stdio, http, start, heap }
const asked = process.argv.slice(2)
for (const [name, part] of Object.entries(PARTS)) if (asked.length === 0 || asked.includes(name)) await part()
process.exit(0)

async function stdio(): Promise<void> {
  await calls('One call over stdio (target 1.05)', [
    ['lean, 2025', async () => stdioTarget('lean-stdio', 'legacy')],
    ['lean, 2026', async () => stdioTarget('lean-stdio', 'modern')],
    ['official, 2025', async () => stdioTarget('official-stdio', 'legacy')],
    ['official, 2026', async () => stdioTarget('official-stdio', 'modern')],
  ])
}

async function http(): Promise<void> {
  await calls('One call over HTTP (target 0.75)', [
    ['lean, 2025 sessions, JSON', () => httpTarget('lean-http', 'legacy', 'json')],
    ['lean, 2025 sessions, SSE', () => httpTarget('lean-http', 'legacy', 'sse')],
    ['lean, 2026, JSON', () => httpTarget('lean-http', 'modern', 'json')],
    ['lean, 2026, SSE', () => httpTarget('lean-http', 'modern', 'sse')],
    ['official, 2025 sessions, JSON', () => httpTarget('official-http', 'legacy', 'json')],
    ['official, 2025 sessions, SSE', () => httpTarget('official-http', 'legacy', 'sse')],
    ['official, 2026', () => httpTarget('official-http', 'modern', 'json')],
  ])
}

async function calls(title: string, targets: Array<[string, () => Promise<Target>]>): Promise<void> {
  console.log(`\n${title}: ${ROUNDS} rounds of ${CALLS} calls, one after another; p50 of a round`)
  const rows = [['server', 'bare µs', 'connection', 'whole call', 'no client', 'CPU, connection', 'CPU, whole call']]
  for (const [name, begin] of targets) {
    const target = await begin()
    rows.push([name, ...(await measureCalls(target))])
    if (target.type === 'http') target.child.kill()
  }
  printTable(rows)
}

async function measureCalls(target: Target): Promise<string[]> {
  const none = target.type === 'http' ? { floor: () => floor(target) } : {}
  const names = { bare, connection: ourConnection, host: ourHost, ...none }
  const cpu: Record<string, number[]> = { bare: [], connection: [], host: [] }
  const opened = await Promise.all(
    Object.entries(names).map(
      async ([name, contender]: [string, Contender]) => [name, await contender(target)] as const,
    ),
  )
  for (const [, { call }] of opened) for (let i = 0; i < CALLS * 2; i++) await call()
  const p50 = await interleave(
    ROUNDS,
    opened.map(([name, { call }]) => {
      const measure = async () => {
        const before = process.cpuUsage()
        const times: number[] = []
        for (let i = 0; i < CALLS; i++) {
          const start = performance.now()
          await call()
          times.push((performance.now() - start) * 1000)
        }
        const { user, system } = process.cpuUsage(before)
        cpu[name]?.push((user + system) / CALLS)
        return median(times)
      }
      return [name, measure] as const
    }),
  )
  await Promise.all(opened.map(([, { close }]) => close()))
  const compare = (of: Record<string, number[]>, name: string) => ratio(of[name] ?? [], of.bare ?? []).text
  return [
    median(p50.bare ?? []).toFixed(0),
    compare(p50, 'connection'),
    compare(p50, 'host'),
    target.type === 'http' ? compare(p50, 'floor') : '',
    compare(cpu, 'connection'),
    compare(cpu, 'host'),
  ]
}

async function start(): Promise<void> {
  console.log(`\n${SERVERS} stdio servers started and listed (target 1.15): ${START_ROUNDS} rounds`)
  const rows = [['server', 'bare ms', 'ours / bare', 'ours / bare with auto']]
  const targets: Array<[string, Target]> = [
    ['lean, 2025', stdioTarget('lean-stdio', 'legacy')],
    ['official, both eras', stdioTarget('official-stdio', 'modern', 'both')],
    ['official, 2025', stdioTarget('official-stdio', 'legacy')],
  ]
  for (const [name, target] of targets) {
    const times = await interleave(START_ROUNDS, [
      ['bare', () => startBare(target, false)],
      ['ours', () => startOurs(target)],
      ['auto', () => startBare(target, true)],
    ])
    rows.push([
      name,
      median(times.bare).toFixed(0),
      ratio(times.ours, times.bare).text,
      ratio(times.ours, times.auto).text,
    ])
  }
  printTable(rows)
}

async function startBare(target: Target, auto: boolean): Promise<number> {
  const begin = performance.now()
  const clients = await Promise.all(
    Array.from({ length: SERVERS }, async () => {
      const client = await bareClient(target, auto)
      const { tools } = await client.listTools()
      if (tools.length !== 20) throw new Error(`${tools.length} tools`)
      return client
    }),
  )
  const took = performance.now() - begin
  await Promise.all(clients.map((client) => client.close()))
  return took
}

/** From stored toolkits to tools in the catalog: connected, listed, checked, fingerprinted and stored. */
async function startOurs(target: Target): Promise<number> {
  const host = createServices({ drivers: drivers() })
  const stored = await Promise.all(
    Array.from({ length: SERVERS }, async (_, index) => {
      const input = { name: `kit-${index}`, server: serverOf(target) }
      return (await host.toolkits.register(input, OWNER)).stored
    }),
  )
  const begin = performance.now()
  await Promise.all(
    stored.map(async (one) => {
      const tools = await host.catalog.introspect(one, OWNER.userId)
      if (tools.length !== 20) throw new Error(`${tools.length} tools`)
    }),
  )
  const took = performance.now() - begin
  await host.close()
  return took
}

async function heap(): Promise<void> {
  console.log(`\nHeap of an HTTP connection (target 1.1): ${HEAP_ROUNDS} rounds of ${HEAP_CONNECTIONS} connections`)
  const rows = [['server', 'bare KB', 'connection', 'connection of a host']]
  for (const era of ['legacy', 'modern'] as const) {
    const target = await httpTarget('lean-http', era, 'json')
    const kilobytes = (contender: string) => () => heapOf(contender, target)
    const of = await interleave(HEAP_ROUNDS, [
      ['bare', kilobytes('bare')],
      ['connection', kilobytes('connection')],
      ['host', kilobytes('host')],
    ])
    target.child.kill()
    const name = era === 'legacy' ? 'lean, 2025 sessions' : 'lean, 2026'
    rows.push([name, median(of.bare).toFixed(0), ratio(of.connection, of.bare).text, ratio(of.host, of.bare).text])
  }
  printTable(rows)
}

async function heapOf(contender: string, { era, url }: Target & { type: 'http' }): Promise<number> {
  const child = fileURLToPath(new URL('./connections/heap-child.ts', import.meta.url))
  const args = ['--expose-gc', child, contender, era, url, String(HEAP_CONNECTIONS)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout) / 1024
}
