/** Runs hostile programs, a few at a time, and tells what is wrong with each: nothing, or what came instead. */
import type { Bridge, Execution, Executor, ProgramLimits } from '../../src/code-mode/executor.ts'
import type { Ending } from './program.ts'
import type { HostileProgram } from './programs.ts'

export interface HostileReport {
  name: string
  /** Nothing where it is empty. */
  wrong: string[]
  execution: Execution
}

export interface HostileOptions {
  limits: ProgramLimits
  atOnce: number
  /** How many times as long as its limits a program may take, for a proof on a quiet machine. Without it, as long as it wants. */
  slack?: number
  /** Texts that nobody inside may ever have. */
  secrets: readonly string[]
}

const NEVER_MS = 500
const GRACE_MS = 250
const LIMITS_OF_TIME = ['cpu-limit', 'time-limit']
const bridge: Bridge = {
  functions: { kit: ['echo', 'fail', 'large', 'huge', 'never'], '': ['search'] },
  async call({ name, arguments: [first] }) {
    const at = 1_000
    if (name === 'fail') return { error: { code: 'not-found', message: 'There is none.' }, at }
    if (name === 'never') return new Promise(() => {})
    if (name === 'huge') return { value: 'x'.repeat(4_000_000), at }
    return { value: name === 'large' ? 'large' : first, at }
  },
}

export async function runHostile(
  executor: Executor,
  programs: readonly HostileProgram[],
  options: HostileOptions,
): Promise<HostileReport[]> {
  const left = [...programs]
  const reports: HostileReport[] = []
  const work = async () => {
    for (let program = left.shift(); program; program = left.shift())
      reports.push(await runOne(executor, program, options))
  }
  await Promise.all(Array.from({ length: options.atOnce }, work))
  return reports
}

async function runOne(executor: Executor, program: HostileProgram, options: HostileOptions): Promise<HostileReport> {
  const { name, source, ending } = program
  const limits = limitsOf(program, options.limits)
  const input = { list: [1], text: 'input' }
  const execution = await executor.execute({ source, input, seed: 'hostile', now: 1 }, bridge, { limits })
  return {
    name,
    execution,
    wrong: [...endsWrong(execution, ending), ...isLate(execution, limits, options), ...isSeen(execution, options)],
  }
}

/** Who waits for ever is not waited for as long as the others; who is not to be ended for computing gets time for the rest. */
function limitsOf({ source, ending }: HostileProgram, limits: ProgramLimits): ProgramLimits {
  if (source.includes('kit.never')) return { ...limits, wallMs: NEVER_MS }
  return JSON.stringify(ending).includes('cpu-limit') ? limits : { ...limits, cpuMs: limits.cpuMs * 20 }
}

function endsWrong(execution: Execution, ending: Ending): string[] {
  const came = JSON.stringify(execution.status === 'completed' ? execution.value : execution).slice(0, 400)
  if (typeof ending === 'object' && 'value' in ending)
    return execution.status === 'completed' && JSON.stringify(execution.value) === JSON.stringify(ending.value)
      ? []
      : [`expected the value ${JSON.stringify(ending.value)}, got ${came}`]
  const codes: readonly string[] = typeof ending === 'string' ? [ending] : ending
  return execution.status === 'failed' && codes.includes(execution.error.code)
    ? []
    : [`expected ${codes.join(' or ')}, got ${came}`]
}

/** Never before its limit, and within the memory that it may have; with a slack, not long after its limit. */
function isLate({ usage, ...execution }: Execution, limits: ProgramLimits, { slack }: HostileOptions): string[] {
  const code = execution.status === 'failed' ? execution.error.code : ''
  const limitMs = code === 'time-limit' ? limits.wallMs : limits.cpuMs
  const wrong: string[] = []
  if (LIMITS_OF_TIME.includes(code) && usage.wallMs < limitMs)
    wrong.push(`ended after ${usage.wallMs} ms, before its limit`)
  if (slack !== undefined) {
    const most = (limitMs + GRACE_MS) * slack
    if (usage.cpuMs > limits.cpuMs + GRACE_MS) wrong.push(`computed for ${usage.cpuMs} ms`)
    if (usage.wallMs > most) wrong.push(`ended after ${usage.wallMs} ms, later than ${most}`)
  }
  if ((usage.memoryBytes ?? 0) > limits.memoryBytes * 2 + 8 * 1024 * 1024) wrong.push(`took ${usage.memoryBytes} bytes`)
  return wrong
}

function isSeen(execution: Execution, { secrets }: HostileOptions): string[] {
  const all = JSON.stringify(execution)
  return secrets.filter((secret) => all.includes(secret)).map((secret) => `it has ${secret}`)
}

/** What the host itself is after all of them: as it was. */
export function hostHarm(): string[] {
  const wrong: string[] = []
  const plain = {} as Record<string, unknown>
  for (const name of ['polluted', 'admin', 'evil', 'then', 'code', 'x', 'toJSON'])
    if (plain[name] !== undefined) wrong.push(name)
  if (JSON.stringify([1, { a: 1 }]) !== '[1,{"a":1}]') wrong.push('JSON.stringify')
  if (Object.keys(Object.prototype).length + Object.keys(Array.prototype).length > 0) wrong.push('a prototype')
  return wrong
}
