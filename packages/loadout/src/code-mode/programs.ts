/** Programs of threads. Each program is a run: it survives its process and pauses for approvals. */

import type { CallAudit } from '../audit/call-audit.ts'
import type { Calls } from '../calls/calls.ts'
import { withRules } from '../calls/stages/with-context.ts'
import { HostError } from '../errors.ts'
import type { Loadouts } from '../loadout/loadouts.ts'
import { type Narrowing, narrow } from '../loadout/narrow.ts'
import type { Loadout } from '../loadout/overlay.ts'
import { isDecidedAtCallTime } from '../loadout/policy-filter.ts'
import type { ActiveRun, Engine, RunEnd, RunWork } from '../runs/engine.ts'
import { newId } from '../schema/ids.ts'
import { type JsonObject, parse } from '../schema/json.ts'
import { type ProgramInput, programInput } from '../schema/records/program.ts'
import type { RunView } from '../schema/records/run.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import type { PolicyRuleInput } from '../schema/toolkit/policy.ts'
import type { Searcher } from '../search/searcher.ts'
import { tokenizerOf } from '../search/tokens/tokenizer.ts'
import { BUILT_IN, createBridge, type FunctionMap } from './bridge.ts'
import { declare } from './declarations/declarations.ts'
import type { Execution, Executor, ProgramError, ProgramLimits } from './executor.ts'
import { codeNames } from './function-names.ts'
import { readProgram } from './parse/read-program.ts'
import { resolveLimits } from './sandbox/limits.ts'

export interface ProgramDeps {
  executor: Executor
  loadouts: Pick<Loadouts, 'resolve'>
  calls: Pick<Calls, 'start'>
  searcher: Searcher
  audit: Pick<CallAudit, 'show'>
  /** Max limits of any program. */
  limits?: Partial<ProgramLimits> | undefined
}

export interface ProgramScope {
  userId: string
  threadId?: string | undefined
  /** Tools of the caller; the program may call no others. @default the loadout of the scope */
  allowedTools?: Loadout | undefined
  /** Policy rules of the starting call. They only tighten and apply to every call of the program. */
  rules?: readonly PolicyRuleInput[] | undefined
  /** True if a run waits for this program. */
  isInside?: boolean | undefined
}

/** Starts a program as a run; its functions are fixed here. */
export async function startProgram(
  { engine, loadouts }: { engine: Engine; loadouts: Pick<Loadouts, 'resolve'> },
  scope: ProgramScope,
  rawInput: unknown,
): Promise<RunView> {
  const { program, language, input = null, limits, only, except } = parse(programInput, rawInput)
  const { userId, threadId, allowedTools, rules = [], isInside } = scope
  const own = await loadouts.resolve({ userId, threadId }, { narrow: { only, except } })
  const bounds = allowedTools ? boundsOf(own, allowedTools) : {}
  const loadout = narrow(own, bounds)
  // Parse once: a resumed program runs the same text.
  const read = await readProgram({ source: program, language })
  const stored: StoredProgram = {
    ...(read.ok ? { body: read.source } : {}),
    program,
    input,
    seed: newId('run'),
    functions: functionsOf(loadout, program),
    ...(language === undefined ? {} : { language }),
    ...(limits === undefined ? {} : { limits }),
    ...(only === undefined ? {} : { only }),
    ...(except === undefined ? {} : { except }),
    ...(Object.keys(bounds).length === 0 ? {} : { bounds }),
    ...(rules.length === 0 ? {} : { rules: [...rules] }),
  }
  return engine.start({ userId, threadId, kind: 'program', isInside, input: stored as unknown as JsonObject })
}

/** Stored program, from which a run is replayed. */
interface StoredProgram extends ProgramInput {
  seed: string
  functions: FunctionMap
  /** Parsed source; missing if the program is invalid. */
  body?: string | undefined
  /** Tools of the caller within the loadout of the thread, and the rules of the call. */
  bounds?: Pick<Narrowing, 'only' | 'except'> | undefined
  rules?: PolicyRuleInput[] | undefined
}

/** The shorter of `only` and `except` that describes the allowed tools. */
function boundsOf({ tools }: Loadout, allowedTools: Loadout): Pick<Narrowing, 'only' | 'except'> {
  const allowedRefs = new Set(allowedTools.tools.map(({ ref }) => ref))
  const except = tools.map(({ ref }) => ref).filter((ref) => !allowedRefs.has(ref))
  if (except.length === 0) return {}
  return except.length <= allowedRefs.size ? { except } : { only: [...allowedRefs] }
}

const isAgainst = ({ speaks }: Reason) => speaks === 'against'

/** Functions of toolkits whose object name occurs in the program text. */
export function functionsOf({ tools, entries }: Loadout, program: string): FunctionMap {
  const functions: FunctionMap = {}
  // Denied tools get a function too, after the others, so that a call reports the reason.
  const denied = entries.filter(({ included, reasons }) => !included && isDecidedAtCallTime(reasons.filter(isAgainst)))
  for (const [ref, { object, name, aliases }] of codeNames([...tools, ...denied], { reserved: BUILT_IN })) {
    if (!program.includes(object)) continue
    functions[object] ??= {}
    for (const alias of [name, ...aliases]) functions[object][alias] = ref
  }
  return functions
}

/** Work of a program run. */
export function createProgramWork(deps: ProgramDeps): RunWork {
  return async (run) => {
    const stored = run.input as unknown as StoredProgram
    if (stored.body === undefined) return unreadable(stored)
    const { only, except } = stored
    const { userId, threadId } = run
    const own = await deps.loadouts.resolve({ userId, threadId }, { narrow: { only, except } })
    const loadout = narrow(own, stored.bounds ?? {})
    const bridge = createBridge(
      {
        ...deps,
        calls: withRules(deps.calls, stored.rules),
        show: (entry, args) => redactForLog(deps.audit, run, { entry, args }),
        declare: declareIn(loadout.tools),
      },
      { run, loadout, functions: stored.functions },
    )
    const { input, seed } = stored
    const program = { source: stored.body, input, seed, now: run.startedAt.getTime() }
    const limits = tighter(resolveLimits(deps.limits), stored.limits)
    const execution = await deps.executor.execute(program, bridge, { limits, signal: run.signal })
    if (execution.status === 'failed') bridge.abort()
    await bridge.settled()
    if (bridge.fault !== undefined) throw bridge.fault
    return endOf(execution)
  }
}

async function unreadable({ program: source, language }: StoredProgram): Promise<RunEnd> {
  const read = await readProgram({ source, language })
  const { error } = read.ok
    ? { error: { code: 'syntax-error' as const, message: 'It could not be read.', action: '' } }
    : read
  return failed(error, error.action)
}

/** Declares a tool in full under its name in this program. */
const declareIn = (tools: readonly LoadoutEntry[]) => {
  const names = codeNames(tools, { reserved: BUILT_IN })
  return async (entry: LoadoutEntry) =>
    declare([entry], { maxTokens: 4000, tokenizer: await tokenizerOf(), names }).text
}

/** Redacted arguments for the log; empty if redaction is asynchronous. */
function redactForLog(
  audit: Pick<CallAudit, 'show'>,
  { userId }: ActiveRun,
  { entry, args }: { entry: LoadoutEntry | undefined; args: JsonObject },
): JsonObject {
  const redacted = audit.show({ userId, arguments: args }, { inputSchema: entry?.manifest.inputSchema } as never)
  return redacted instanceof Promise ? {} : redacted
}

export function tighter(
  ceiling: Partial<ProgramLimits> = {},
  wanted: Partial<Record<keyof ProgramLimits, number | undefined>> = {},
): Partial<ProgramLimits> {
  const all = new Set([...Object.keys(ceiling), ...Object.keys(wanted)]) as Set<keyof ProgramLimits>
  const values = [...all].map(
    (name) => [name, Math.min(ceiling[name] ?? UNLIMITED, wanted[name] ?? ceiling[name] ?? UNLIMITED)] as const,
  )
  return Object.fromEntries(values.filter(([, value]) => value !== UNLIMITED))
}
const UNLIMITED = Number.POSITIVE_INFINITY

function endOf(execution: Execution): RunEnd {
  const { logs, usage } = execution
  const report = { logs, usage: { ...usage } }
  if (execution.status === 'completed') return { status: 'completed', output: execution.value, ...report }
  if (execution.status === 'paused') return { status: 'paused', logs }
  return { ...failed(execution.error), ...report }
}

function failed({ code, message, line, stack }: ProgramError, action?: string): RunEnd & { status: 'failed' } {
  // Syntax errors already contain line and column.
  const hasPosition = line === undefined || message.includes(`(line ${line},`)
  const where = hasPosition ? '' : ` (line ${line})`
  const error = new HostError('program-failed', { detail: `${message}${where}`, ...(action ? { action } : {}) })
  const about = { reason: code, ...(line === undefined ? {} : { line }), ...(stack === undefined ? {} : { stack }) }
  return { status: 'failed', error, about }
}
