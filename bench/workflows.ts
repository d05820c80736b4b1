/**
 * What a durable run costs: from an invocation to its first node with a warm catalog, and 1,000 runs of three tool nodes against
 * the same calls without a run, in interleaved rounds. `npm run bench:workflows [-- --write]`
 */
import { join } from 'node:path'
import { masterKeyRing, rule, type Storage } from '@loadout/core'
import { fileJournal } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { memory } from '@loadout/core/storage/memory'
import { pglite } from '@loadout/core/storage/pglite'
import { postgres } from '@loadout/core/storage/postgres'
import { drivers, OWNER, serverOf } from './connections/contenders.ts'
import { interleave, median, printTable } from './connections/statistics.ts'
import { stdioTarget } from './connections/targets.ts'
import { markdown, writeSection } from './section.ts'
import { startDatabase } from './start-database.ts'

const RUNS = 1000
const ROUNDS = 5
const WIDE = 32
const ALONE = 200

const { userId } = OWNER
const node = (id: string, text: string) => ({ id, type: 'tool', ref: 'bench.echo', arguments: { text } })
const WORKFLOW = {
  name: 'three',
  nodes: [
    node('a', '{{ input.text }}'),
    node('b', '{{ nodes.a.output.text }}'),
    node('c', '{{ nodes.b.output.text }}'),
  ],
  output: '{{ nodes.c.output.text }}',
}

const { folder, url, stop } = await startDatabase()
const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')

const STORAGES: Record<string, () => Storage> = {
  memory: () => memory(),
  PGlite: () => pglite({ dataDir: join(folder, 'pglite') }),
  PostgreSQL: () => postgres({ url }),
}

/** As a server has it: rules, and a log in a journal; its one toolkit is a process of its own. */
async function open(name: string, storage: Storage): Promise<{ host: HostServices; workflowId: string }> {
  const host = createServices({
    storage,
    keyRing: await masterKeyRing(key),
    drivers: drivers(),
    policy: [rule('*', 'allow')],
    audit: { journal: fileJournal({ dir: join(folder, `journal-${name}`) }) },
  })
  await host.ready()
  const { stored } = await host.toolkits.register(
    { name: 'bench', server: serverOf(stdioTarget('lean-stdio', 'legacy')) },
    OWNER,
  )
  await host.catalog.introspect(stored, userId)
  const { id: workflowId } = await host.workflows.create(userId, WORKFLOW)
  return { host, workflowId }
}

async function runOne(host: HostServices, workflowId: string): Promise<void> {
  const done = await host.workflows.run(userId, { workflowId, input: { text: 'hello' } })
  if (done.status !== 'completed' || done.output !== 'hello') throw new Error(JSON.stringify(done))
}

async function callsOfOne(host: HostServices): Promise<void> {
  const request = { userId, toolkit: 'bench', tool: 'echo', caller: { type: 'direct' } as const }
  for (let call = 0; call < WORKFLOW.nodes.length; call++) {
    const outcome = await host.calls.start({ ...request, arguments: { text: 'hello' } }).outcome
    if (!('content' in outcome)) throw outcome.error
  }
}

/** So many a second, `wide` of them at once. */
async function rate(work: () => Promise<void>, times: number, wide: number): Promise<number> {
  let left = times
  const start = performance.now()
  const next = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: wide }, next))
  return times / ((performance.now() - start) / 1000)
}

/** Milliseconds from the invocation until its first node runs, and until it is over. */
async function latencies(host: HostServices, workflowId: string): Promise<{ first: number[]; over: number[] }> {
  const first: number[] = []
  const over: number[] = []
  let started = 0
  const stop = host.events.on('run-node', ({ node: id, status }) => {
    if (id === 'a' && status === 'running') first.push(performance.now() - started)
  })
  for (let turn = 0; turn < ALONE; turn++) {
    started = performance.now()
    await runOne(host, workflowId)
    over.push(performance.now() - started)
  }
  stop()
  return { first, over }
}

const ms = (values: readonly number[], part: number) =>
  (values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN).toFixed(1)
const spread = (values: readonly number[]) =>
  `${median(values).toFixed(0)} [${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)}]`

async function measure(name: string, storage: Storage): Promise<string[]> {
  const { host, workflowId } = await open(name, storage)
  await rate(() => runOne(host, workflowId), 100, WIDE)
  const { first, over } = await latencies(host, workflowId)
  const each = RUNS / ROUNDS
  const { runs, calls } = await interleave(ROUNDS, [
    ['runs', () => rate(() => runOne(host, workflowId), each, WIDE)],
    ['calls', () => rate(() => callsOfOne(host), each, WIDE)],
  ])
  await host.close()
  const ratios = calls.map((count, round) => count / (runs[round] as number))
  return [
    name,
    `${ms(first, 0.5)} · ${ms(first, 0.99)}`,
    `${ms(over, 0.5)} · ${ms(over, 0.99)}`,
    spread(runs),
    spread(calls),
    median(ratios).toFixed(1),
  ]
}

try {
  const rows = [
    [
      'storage',
      'to the first node, ms p50 · p99',
      'whole run, ms p50 · p99',
      `runs a second, ${WIDE} wide`,
      'the same three calls without a run',
      'ratio',
    ],
  ]
  for (const [name, storage] of Object.entries(STORAGES)) rows.push(await measure(name, storage()))
  printTable(rows)
  if (process.argv.includes('--write'))
    writeSection(
      'workflows',
      `## Workflows

\`npm run bench:workflows\` (2 cores, Node ${process.versions.node.split('.')[0]}; a stored workflow of three tool nodes, one after another, over a stdio server; the catalog is warm)

${markdown(rows)}

Times are of ${ALONE} runs, each alone. Rates are of ${RUNS} runs in ${ROUNDS} rounds, each beside a round of as many times the same three
calls through the whole pipeline, without a run: what is between them is what it costs that a run goes on wherever its process
ends. A run stores its beginning, each step before and after its call, and its end, each in a transaction that is awaited: what
is alone waits for its own, and many at once share the one connection of PGlite. A call alone is safe with its line in the journal.`,
    )
} finally {
  await stop()
}
process.exit(0)
