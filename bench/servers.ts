/**
 * Eighty test servers over stdio with 2,310 tools: the time to discover all of them and to list them after a restart,
 * and the memory of the host and its processes. `npm run bench:servers [servers]`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rule } from '@loadout/core'
import { keyFileRing, nodeDrivers } from '@loadout/core/node'
import { createServices } from '@loadout/core/services'
import { pglite } from '@loadout/core/storage/pglite'
import { markdown, writeSection } from './section.ts'

const SERVERS = Number(process.argv[2] ?? 80)
const TOOLS = Math.round((2310 * SERVERS) / 80)
const OWNER = { tier: 'user', userId: 'ann' } as const
const SERVER = fileURLToPath(new URL('./servers/many-tools-stdio.ts', import.meta.url))
const MB = 1024 * 1024
const HEADER = `## Many servers at once

\`npm run bench:servers\` (2 cores, Node 24, others at work on the machine): ${SERVERS} servers of Loadout's own over stdio with ${TOOLS} tools in
PGlite. Discovery runs eight at once; a user has at most 32 connections. The list after a restart comes from the catalog.`

const folder = mkdtempSync(join(tmpdir(), 'loadout-bench-'))
const script = join(folder, 'server.ts')
writeFileSync(script, readFileSync(SERVER))

const open = () =>
  createServices({
    storage: pglite({ dataDir: join(folder, 'data') }),
    keyRing: () => keyFileRing(join(folder, 'keys.json')),
    drivers: nodeDrivers(),
    policy: [rule('*', 'allow')],
  })

const rows: Array<[what: string, value: string]> = []
const measured = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const from = performance.now()
  const result = await work()
  rows.push([what, `${((performance.now() - from) / 1000).toFixed(2)} s`])
  return result
}

await first()
await second()
rmSync(folder, { recursive: true, force: true })
const table = markdown([['what', 'measured'], ...rows])
console.log(table)
writeSection('servers', `${HEADER}\n\n${table}`)
process.exit(0)

/** All servers are new: discovered in the background, a few at once. */
async function first(): Promise<void> {
  const host = open()
  for (let at = 0; at < SERVERS; at++) {
    const tools = Math.floor(((at + 1) * TOOLS) / SERVERS) - Math.floor((at * TOOLS) / SERVERS)
    await host.toolkits.register(
      { name: `server-${at}`, command: process.execPath, args: [script, String(at), String(tools)] },
      OWNER,
    )
  }
  await measured(`discover ${SERVERS} servers`, async () => {
    await host.views.summaries('ann')
    await host.catalog.settled()
    for (let known = 0; known < TOOLS; ) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      known = (await host.views.summaries('ann')).reduce((sum, { toolCount }) => sum + toolCount, 0)
    }
  })
  const { connections } = await host.status()
  rows.push(['processes afterwards', String(connections.length)])
  rows.push(['memory of these processes', `${Math.round(childrenMemory() / MB)} MB`])
  await host.close()
}

/** The same data after a restart: the list comes from the catalog. */
async function second(): Promise<void> {
  const host = await measured('open the host again', async () => {
    const opened = open()
    await opened.ready()
    return opened
  })
  const list = await measured('first list after the restart', () => host.views.summaries('ann'))
  rows.push(['processes that it started', String((await host.status()).connections.length)])
  rows.push(['tools listed', String(list.reduce((sum, { toolCount }) => sum + toolCount, 0))])
  rows.push(['list, compressed', `${Math.round(gzipSync(JSON.stringify({ toolkits: list })).length / 1000)} kB`])
  const thread = host.thread({ userId: 'ann', threadId: 't' })
  const prompt = 'archive the invoice of a customer'
  await measured('first selection over all of them', () => thread.select({ prompt }))
  await measured('second selection', () => thread.select({ prompt: 'list the members of a team' }))
  globalThis.gc?.()
  rows.push(['heap of the host', `${Math.round(process.memoryUsage().heapUsed / MB)} MB`])
  rows.push(['resident memory of the host', `${Math.round(process.memoryUsage().rss / MB)} MB`])
  await host.close()
}

/** Resident memory of the children of this process, in bytes (Linux). */
function childrenMemory(): number {
  const list = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(/\s+/)
  return list.reduce((sum, pid) => sum + memoryOf(pid), 0)
}

function memoryOf(pid: string): number {
  try {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return Number(found?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
