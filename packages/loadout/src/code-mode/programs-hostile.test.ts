/** Hostile programs all the way: through a thread, its run and its log, with tools that are called through the pipeline. */
import { availableParallelism, loadavg } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { heldDuring, lagDuring } from '../../test/fixtures/event-loop-lag.ts'
import { HOSTILE_LIMITS, HOSTILE_PROGRAMS, type HostileProgram } from '../../test/hostile/programs.ts'
import { hostHarm } from '../../test/hostile/run.ts'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import type { RunView } from '../schema/run.ts'
import { quickjs } from './quickjs.ts'

const CANARY = 'canary-of-the-host-51ab'
const AT_ONCE = 2
const isFull = process.env.LOADOUT_PROVE === 'full'
/** Those that call something, and of the others one in eight. */
const PROGRAMS = HOSTILE_PROGRAMS.filter(({ source }, n) => isFull || source.includes('kit.') || n % 8 === 0)
/** By the clock, others on the machine hold the loop up, too. On one that nobody else uses this is 1. */
const byLoad = () => Math.max(1, (3 * (loadavg()[0] ?? 0)) / availableParallelism())

const tool = (name: string, execute: (input: never) => unknown) => ({
  ...{ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  execute,
})
const tools = [
  tool('echo', (input) => input),
  tool('fail', () => {
    throw new Error('There is none.')
  }),
  tool('large', () => 'large'),
  tool('huge', () => 'x'.repeat(4_000_000)),
  tool('never', () => new Promise(() => {})),
]

let host: Host
beforeAll(async () => {
  Object.assign(globalThis, { hostCanary: CANARY })
  process.env.HOST_CANARY = CANARY
  host = createHost({ executor: quickjs(), policy: [rule('*', 'allow')] })
  await host.ready()
  await host.toolkits.register({ name: 'kit', tools }, { tier: 'user', userId: 'eve' })
})
afterAll(() => host.close())

const input = { list: [1], text: 'input' }
const run = (program: string, limits: object) =>
  host.thread({ userId: 'eve', threadId: 't' }).run({ program, input, limits })

/** What a tool gives, and what it takes, is another matter here: of those it counts that they end by the same limit. */
function wrongOf({ name, source, ending }: HostileProgram, { status, output, error }: RunView): string[] {
  const came = JSON.stringify({ status, output, error })
  const seen = came.includes(CANARY) ? [`${name}: it has the canary`] : []
  const isOver = status === 'completed' || status === 'failed'
  // A form that no engine takes may be one that is read here.
  const isOther = /kit|search/.test(source) || ending === 'syntax-error'
  const fits =
    typeof ending === 'object' && 'value' in ending
      ? isOther || JSON.stringify(output) === JSON.stringify(ending.value)
      : isOther || [ending].flat().includes(error?.reason as never)
  return isOver && fits ? seen : [...seen, `${name} → ${came.slice(0, 300)}`]
}

it(`holds out against ${PROGRAMS.length} of them, and others have their turn meanwhile`, {
  timeout: 600_000,
}, async () => {
  const left = [...PROGRAMS]
  const wrong: string[] = []
  const work = async () => {
    for (let one = left.shift(); one; one = left.shift()) {
      const isCpu = JSON.stringify(one.ending).includes('cpu-limit')
      const wallMs = one.source.includes('kit.never') ? 500 : HOSTILE_LIMITS.wallMs
      const cpuMs = HOSTILE_LIMITS.cpuMs * (isCpu ? 1 : 20)
      wrong.push(...wrongOf(one, await run(one.source, { ...HOSTILE_LIMITS, wallMs, cpuMs })))
    }
  }
  const { result, lagMs } = await lagDuring(() => heldDuring(() => Promise.all(Array.from({ length: AT_ONCE }, work))))
  expect(wrong).toEqual([])
  expect(hostHarm()).toEqual([])
  expect(result.heldMs).toBeLessThan(100)
  expect(lagMs).toBeLessThan(100 * byLoad())
})

it.each([
  ['numbers', 'kit.echo({ all: Array.from({ length: 9_990 }, (_, n) => n) })'],
  ['objects', 'kit.echo({ all: Array.from({ length: 3_300 }, (_, n) => ({ n })) })'],
  ['names', 'kit.echo(Object.fromEntries(Array.from({ length: 4_990 }, (_, n) => ["name" + n, n])))'],
  ['text', 'kit.echo({ text: "ü".repeat(120_000) })'],
])('as much as a call may take, fifteen times at once: %s', async (_, call) => {
  const program = `return (await Promise.all(Array.from({ length: 15 }, () => ${call}))).length`
  const { result, heldMs } = await heldDuring(() => run(program, {}))
  expect(result).toMatchObject({ status: 'completed', output: 15 })
  expect(heldMs).toBeLessThan(100)
})
