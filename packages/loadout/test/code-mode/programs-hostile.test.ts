/** Hostile programs all the way: through a thread, its run and its log, with tools that are called through the pipeline. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newWork } from '../../../../test/prove/work.ts'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import type { RunView } from '../../src/schema/records/run.ts'
import { HOSTILE_LIMITS, HOSTILE_PROGRAMS, HOSTILE_SAMPLE, type HostileProgram } from '../hostile/programs.ts'
import { hostHarm } from '../hostile/run.ts'

const CANARY = 'canary-of-the-host-51ab'
const AT_ONCE = 2
const isFull = process.env.LOADOUT_PROVE === 'full'
const PROGRAMS = isFull ? HOSTILE_PROGRAMS : HOSTILE_SAMPLE
const work = newWork()
/** What the host does for programs within 10 ms, however many turns of its event loop that takes. */
const TURNS = { steps: 5_000_000, ms: 100, everyMs: 10 }

const tool = (name: string, execute: (input: never) => unknown) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
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

let host: HostServices
beforeAll(async () => {
  Object.assign(globalThis, { hostCanary: CANARY })
  process.env.HOST_CANARY = CANARY
  host = createServices({ executor: quickjs(), policy: [rule('*', 'allow')] })
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

it(`a host contains ${PROGRAMS.length} hostile programs and stays responsive`, {
  timeout: 600_000,
}, async () => {
  const left = [...PROGRAMS]
  const wrong: string[] = []
  const next = async () => {
    for (let one = left.shift(); one; one = left.shift()) {
      const isCpu = JSON.stringify(one.ending).includes('cpu-limit')
      const wallMs = one.source.includes('kit.never') ? 500 : HOSTILE_LIMITS.wallMs
      const cpuMs = HOSTILE_LIMITS.cpuMs * (isCpu ? 1 : 20)
      wrong.push(...wrongOf(one, await run(one.source, { ...HOSTILE_LIMITS, wallMs, cpuMs })))
    }
  }
  await work.perTurn(TURNS, () => Promise.all(Array.from({ length: AT_ONCE }, next)))
  expect(wrong).toEqual([])
  expect(hostHarm()).toEqual([])
})

it.each([
  ['numbers', 'kit.echo({ all: Array.from({ length: 9_990 }, (_, n) => n) })'],
  ['objects', 'kit.echo({ all: Array.from({ length: 3_300 }, (_, n) => ({ n })) })'],
  ['names', 'kit.echo(Object.fromEntries(Array.from({ length: 4_990 }, (_, n) => ["name" + n, n])))'],
  ['text', 'kit.echo({ text: "ü".repeat(120_000) })'],
])('bounds fifteen parallel calls of the largest size: %s', async (_, call) => {
  const program = `return (await Promise.all(Array.from({ length: 15 }, () => ${call}))).length`
  const result = await work.perTurn(TURNS, () => run(program, {}))
  expect(result).toMatchObject({ status: 'completed', output: 15 })
})
