/**
 * A host that is given results of 50 MB, in a process of its own so that its memory can be told:
 * `node large-results.ts <folder of a PGlite, or postgres URL> <url of large-server.ts> <filesystem server> <large file>`.
 * It says one line of JSON for each server: what the model got, what was read, and how far the memory grew at the most.
 */
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { masterKeyRing } from '../credentials/master-key.ts'
import { createHost } from '../host.ts'
import { rule } from '../policy/rule.ts'
import { pglite } from '../storage/pglite.ts'
import { postgres } from '../storage/postgres.ts'
import { LINES, lineOf, ROWS, rowOf } from './large-rows.ts'
import { newKey } from './remote-host.ts'

export interface LargeReport {
  name: string
  previewBytes: number
  /** What was read and was not what it should be. */
  wrong: string[]
  /** The highest of the whole process by now, less what it had before the first. */
  grownBytes: number
  ms: number
}

const [where = '', url = '', filesystem = '', file = ''] = process.argv.slice(2)
const host = createHost({
  policy: [rule('*', 'allow')],
  storage: where.startsWith('postgres') ? postgres({ url: where }) : pglite({ dataDir: where }),
  keyRing: () => masterKeyRing(newKey()),
  drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' }, guard: { privateNetwork: true } }),
})
const owner = { tier: 'user', userId: 'ann' } as const
const thread = host.thread({ userId: 'ann', threadId: 't' })
/** The most memory that the process had since it was asked last, looked at from a thread that nothing holds up. */
const seen = new SharedArrayBuffer(8)
const highest = new Float64Array(seen)
const LOOK = `const { workerData } = require('node:worker_threads'); const highest = new Float64Array(workerData)
setInterval(() => { highest[0] = Math.max(highest[0], process.memoryUsage.rss()) }, 5)`
new Worker(LOOK, { eval: true, workerData: seen }).unref()
const grown = (before: number) => Math.max(0, Number(highest[0]) - before)

async function call(name: string, args: object) {
  const outcome = await thread.call({ name, arguments: args as never })
  if ('error' in outcome) throw outcome.error
  return outcome
}

async function reportOf(name: string, args: object, before: number): Promise<LargeReport> {
  const started = performance.now()
  const outcome = await call(name, args)
  const ms = performance.now() - started
  const preview = String(outcome.content[0]?.text)
  const wrong = await (name.startsWith('files') ? readText : readRows)(outcome.resultHandle ?? '')
  return { name, previewBytes: Buffer.byteLength(preview), wrong, grownBytes: grown(before), ms }
}

/** As a model reads: by `read_result`. */
async function read(handle: string, part: object): Promise<string> {
  const outcome = await thread.call({ name: 'read_result', arguments: { handle, ...part } })
  return 'error' in outcome ? outcome.error.message : String(outcome.content[0]?.text)
}

async function readText(handle: string): Promise<string[]> {
  const wrong: string[] = []
  for (const from of [1, 1000, 2620, 250_000, LINES - 2]) {
    const expected = [from, from + 1, from + 2].map(lineOf).join('\n')
    if ((await read(handle, { fromLine: from, lines: 3 })) !== expected) wrong.push(`line ${from}`)
  }
  const all = Array.from({ length: 6000 }, (_, index) => lineOf(index + 1)).join('\n')
  for (const offset of [0, 262_140, 524_280])
    if ((await read(handle, { offset, limit: 50_000 })) !== all.slice(offset, offset + 50_000))
      wrong.push(`at ${offset}`)
  const start = JSON.stringify(lineOf(1)).slice(0, 50)
  if (!(await read(handle, { path: '$.content', limit: 60 })).startsWith(start)) wrong.push('the path')
  return wrong
}

async function readRows(handle: string): Promise<string[]> {
  const wrong: string[] = []
  const is = async (part: object, expected: string) => {
    const found = await read(handle, part)
    if (found !== expected) wrong.push(`${JSON.stringify(part)}: ${found.slice(0, 100)}`)
  }
  await is({ fromLine: 1, lines: 1 }, `${ROWS} rows`)
  await is({ path: `$.rows[${ROWS - 1}].name` }, `"row ${ROWS - 1}"`)
  await is({ path: '$.rows[250000:250002]' }, JSON.stringify([rowOf(250_000), rowOf(250_001)], undefined, 2))
  return wrong
}

await host.ready()
for (const record of [
  { id: 'files', name: 'files', command: process.execPath, args: [filesystem, dirname(file)] },
  { id: 'rows', name: 'rows', url },
]) {
  const { stored } = await host.toolkits.register(record, owner)
  await host.catalog.introspect(stored, owner.userId)
}
const say = (report: LargeReport) => process.stdout.write(`${JSON.stringify(report)}\n`)
// Everything is loaded and connected before the memory is looked at.
await call('files.read_text_file', { path: file, head: 1 })
await call('rows.rows', { all: false })
highest[0] = 0
const before = process.memoryUsage().rss
say(await reportOf('files.read_text_file', { path: file }, before))
say(await reportOf('rows.rows', { all: true }, before))
await host.close()
