/** Shared helpers of the executor suite: a bridge with small functions, and program runs. */
import type {
  Bridge,
  BridgeCall,
  BridgeResult,
  ExecuteOptions,
  Execution,
  Executor,
} from '../../../code-mode/executor.ts'
import type { Json } from '../../../schema/json.ts'
import { check, equal } from '../../check.ts'

export type ExecutorCase = (executor: Executor) => Promise<void>

export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

export interface ProgramOptions extends ExecuteOptions {
  input?: Json
  seed?: string
  bridge?: Partial<Bridge>
}

/** Answers `echo` with its arguments, `fail` with an error and others with null; each answer is one second later. */
export async function answer(call: BridgeCall): Promise<BridgeResult> {
  const at = NOW + 1000 * (call.seq + 1)
  if (call.name === 'fail')
    return { error: { code: 'not-found', message: 'There is none.', data: { seq: call.seq } }, at }
  return { value: call.name === 'echo' ? call.arguments[0] : null, at }
}

export const CASE_FUNCTIONS = {
  kit: ['echo', 'fail', 'list-all', 'slow'],
  'two-words': ['echo'],
  '': ['search', 'describe'],
}

export function run(executor: Executor, source: string, options: ProgramOptions = {}): Promise<Execution> {
  const { input, seed = 'seed', bridge, limits, signal } = options
  return executor.execute(
    { source, input, seed, now: NOW },
    { functions: CASE_FUNCTIONS, call: answer, ...bridge },
    { limits, signal },
  )
}

export async function expectValue(executor: Executor, source: string, options: ProgramOptions = {}): Promise<Json> {
  const execution = await run(executor, source, options)
  if (execution.status === 'completed') return execution.value
  throw new Error(`It did not complete: ${JSON.stringify(execution)}`)
}

export async function expectFailure(executor: Executor, source: string, options: ProgramOptions = {}) {
  const execution = await run(executor, source, options)
  if (execution.status === 'failed') return { ...execution.error, execution }
  throw new Error(`It did not fail: ${JSON.stringify(execution).slice(0, 300)}`)
}

/** Asserts that a program ends with this code and reports at least the limit as its duration. */
export async function ends(
  executor: Executor,
  source: string,
  options: ProgramOptions & { code: string; limitMs: number },
) {
  const { code, execution } = await expectFailure(executor, source, options)
  const { usage } = execution
  equal(code, options.code, `how it ends: ${source}`)
  check(
    usage.wallMs >= options.limitMs,
    `it ends after ${options.limitMs} ms, and not after ${usage.wallMs}: ${source}`,
  )
}

export const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export const expectSame = (actual: unknown, expected: unknown, label = 'what came of it') =>
  equal(actual, expected, label)
