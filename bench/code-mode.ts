/**
 * What a program costs: ours in a warm thread, @ai-sdk/code-mode as its users call it, and QuickJS on the main thread without
 * any boundary, in interleaved rounds, with tools that do nothing. And when a limit of time ends a program that computes for
 * ever. `npm run bench:code-mode [-- --write]`
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { experimental_runCodeMode as runCodeMode } from '@ai-sdk/code-mode'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { tool } from 'ai'
import { getQuickJS } from 'quickjs-emscripten'
import { z } from 'zod'
import { interleave, median, printTable, ratio } from './connections/statistics.ts'

const ROUNDS = 15
const RUNS = 20
const LIMIT_MS = 1000
const LIMIT_RUNS = 5

/** What is called in it is `tools.echo` everywhere. */
const PROGRAMS = {
  'empty program': 'return 1',
  '100 calls in a row': 'let n = 0; for (let i = 0; i < 100; i++) n += await tools.echo({ i }) ? 1 : 0; return n',
  '100 calls at once': 'return (await Promise.all(Array.from({ length: 100 }, (_, i) => tools.echo({ i })))).length',
} as const
const TARGETS: Record<keyof typeof PROGRAMS, number> = {
  'empty program': 0.2,
  '100 calls in a row': 0.35,
  '100 calls at once': 0.25,
}

const executor = quickjs()
const ours = async (source: string, cpuMs = 5_000) => {
  const execution = await executor.execute(
    { source, seed: 'bench', now: 0 },
    { functions: { tools: ['echo'] }, call: async () => ({ value: { ok: true }, at: 1 }) },
    { limits: { cpuMs } },
  )
  if (execution.status !== 'completed') throw new Error(JSON.stringify(execution))
}

const echo = tool({ inputSchema: z.object({ i: z.number() }), execute: async () => ({ ok: true }) })
const peer = async (source: string, timeoutMs = 30_000) => {
  const executionPolicy = { timeoutMs, maxBridgeRequests: 1000, maxInFlightBridgeRequests: 200 }
  await runCodeMode({ js: source, tools: { echo }, options: { executionPolicy } })
}

const engine = await getQuickJS()
const bare = async (source: string) => {
  const context = engine.newContext()
  const settled: (() => void)[] = []
  const host = context.newFunction('echo', (input) => {
    context.getString(context.getProp(input, 'i'))
    const deferred = context.newPromise()
    settled.push(() => {
      const value = context.newObject()
      context.setProp(value, 'ok', context.true)
      deferred.resolve(value)
      value.dispose()
    })
    return deferred.handle
  })
  const tools = context.newObject()
  context.setProp(tools, 'echo', host)
  context.setProp(context.global, 'tools', tools)
  context.unwrapResult(context.evalCode(`(async () => { ${source} })()`)).dispose()
  context.runtime.executePendingJobs()
  while (settled.length > 0) {
    await Promise.resolve()
    for (const settle of settled.splice(0)) settle()
    context.runtime.executePendingJobs()
  }
  for (const handle of [tools, host]) handle.dispose()
}

/** The median of some runs, one after another, in milliseconds; the fastest is kept beside it. */
async function p50(work: () => Promise<void>, fastest: number[]): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  fastest.push(Math.min(...times))
  return median(times)
}

async function costs(): Promise<string[][]> {
  const rows = [
    [
      'program',
      'code-mode ms',
      'ours ms',
      'ours / code-mode',
      'of the fastest runs',
      'target',
      'bare QuickJS / code-mode',
    ],
  ]
  for (const [name, source] of Object.entries(PROGRAMS) as [keyof typeof PROGRAMS, string][]) {
    for (const one of [ours, peer, bare]) for (let i = 0; i < RUNS; i++) await one(source)
    const least = { ours: [] as number[], peer: [] as number[], bare: [] as number[] }
    const times = await interleave(ROUNDS, [
      ['ours', () => p50(() => ours(source), least.ours)],
      ['peer', () => p50(() => peer(source), least.peer)],
      ['bare', () => p50(() => bare(source), least.bare)],
    ])
    const [own, theirs, plain] = [times.ours ?? [], times.peer ?? [], times.bare ?? []]
    const target = `≤ ${TARGETS[name]}`
    rows.push([
      name,
      median(theirs).toFixed(2),
      median(own).toFixed(2),
      ratio(own, theirs).text,
      ratio(least.ours, least.peer).text,
      target,
      ratio(plain, theirs).text,
    ])
  }
  return rows
}

/** When a loop without an end was ended, in parts of the limit. */
async function accuracy(): Promise<string[][]> {
  const rows = [['limit of 1 s on', ...['ours', 'code-mode'].map((name) => `${name}: parts of it, ${LIMIT_RUNS} runs`)]]
  const timed = async (work: () => Promise<void>) => {
    const start = performance.now()
    await work().catch(() => {})
    return ((performance.now() - start) / LIMIT_MS).toFixed(3)
  }
  for (const [name, source] of [
    ['a loop', 'for (;;);'],
    ['a loop that awaits', 'for (;;) await 0'],
    ['a regular expression', 'return /(a+)+b/.test("a".repeat(60))'],
  ] as const) {
    const [own, theirs]: [string[], string[]] = [[], []]
    for (let i = 0; i < LIMIT_RUNS; i++) {
      own.push(await timed(() => ours(source, LIMIT_MS)))
      theirs.push(await timed(() => peer(source, LIMIT_MS)))
    }
    rows.push([name, own.join(' · '), theirs.join(' · ')])
  }
  return rows
}

/**
 * What the machine itself does to something that short: the same piece of computing, begun each time after a moment of sleep. Where
 * it does not always take the same, the median of a run that takes a few milliseconds is a measure of the machine.
 */
async function stalls(): Promise<string> {
  const piece = () => {
    let sum = 0
    for (let i = 0; i < 600_000; i++) sum = (sum * 31 + i) | 0
    return sum
  }
  for (let i = 0; i < 200; i++) piece()
  const times: number[] = []
  for (let i = 0; i < 1000; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    const start = performance.now()
    piece()
    times.push(performance.now() - start)
  }
  times.sort((one, other) => one - other)
  const [least, p50, p90] = [0, 0.5, 0.9].map((part) => (times[Math.floor(part * times.length)] ?? 0).toFixed(2))
  return `A loop that computes for ${least} ms, with nothing of ours in it, took ${p50} ms in the median and ${p90} ms at p90 on this machine in the same run: what is above ${least} is the machine's, and comes upon a run of a few milliseconds as often.`
}

const MARKS = ['<!-- bench:code-mode -->', '<!-- /bench:code-mode -->'] as const

function write(tables: readonly string[][][], machine: string): void {
  const file = new URL('../docs/about/benchmark-results.md', import.meta.url)
  const markdown = (rows: readonly string[][]) =>
    rows
      .flatMap((row, i) => [`| ${row.join(' | ')} |`, ...(i === 0 ? [`|${' --- |'.repeat(row.length)}`] : [])])
      .join('\n')
  const section = [
    MARKS[0],
    '## Programs',
    '`npm run bench:code-mode -- --write` writes this section (2 cores, Node 24).',
    `Ours in a warm thread and @ai-sdk/code-mode 1.0.42 as its users call it, both with tools that do nothing; ${ROUNDS} interleaved rounds of ${RUNS} runs, p50 of a round; a ratio is that of one round, shown are their median and [least–most]. That of the fastest runs compares the least time of each in a round: what is left when the machine had a core for both threads. Bare QuickJS is quickjs-emscripten on the main thread: no boundary, no limits, and the event loop stands still meanwhile.`,
    ...tables.map(markdown),
    machine,
    'Our limit of computing counts the time of the thread, so that on a busy machine more time passes than the limit says; it is never less.',
    MARKS[1],
  ].join('\n\n')
  const text = readFileSync(file, 'utf8')
  const [from, to] = [text.indexOf(MARKS[0]), text.indexOf(MARKS[1])]
  const parts = from < 0 ? [`${text.trimEnd()}\n\n`, '\n'] : [text.slice(0, from), text.slice(to + MARKS[1].length)]
  writeFileSync(file, parts.join(section))
}

const tables = [await costs(), await accuracy()]
const machine = await stalls()
for (const table of tables) printTable(table)
console.log(machine)
if (process.argv.includes('--write')) write(tables, machine)
await executor.close()
process.exit(0)
