/**
 * Code node: one step for the result and one step per call, in a nested log with its own order. A code node is no
 * separate run: waiting for a second run would hold two rows, and cancel, takeover and rerun would each have to handle
 * both.
 */
import type { Calls } from '../../calls/calls.ts'
import { BUILT_IN, createBridge, type FunctionMap } from '../../code-mode/bridge.ts'
import { declare } from '../../code-mode/declarations/declarations.ts'
import type { Execution, LogLine } from '../../code-mode/executor.ts'
import { codeNames } from '../../code-mode/function-names.ts'
import { readProgram } from '../../code-mode/parse/read-program.ts'
import { functionsOf, tighter } from '../../code-mode/programs.ts'
import { HostError } from '../../errors.ts'
import { narrow } from '../../loadout/narrow.ts'
import type { Loadout } from '../../loadout/overlay.ts'
import type { RunLog, StepResult, Suspended } from '../../runs/engine.ts'
import { newId } from '../../schema/ids.ts'
import type { Json } from '../../schema/json.ts'
import type { ApprovalView } from '../../schema/records/approval.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import { tokenizerOf } from '../../search/tokens/tokenizer.ts'
import {
  attemptOf,
  type NodeDeps,
  type NodeExecution,
  redactedArguments,
  stepKeyOf,
  timed,
} from '../run/node-context.ts'
import { type Attempt, nodeRequest, render } from '../run/node-result.ts'
import { failureData, isReused, type RecordedCalls, watchCalls } from '../run/recorded-calls.ts'

/** Stored result: value, logs and call count. */
interface StoredValue {
  value: Json
  logs: LogLine[]
  calls: number
}

export async function runCodeNode(deps: NodeDeps, nodeExecution: NodeExecution): Promise<Attempt> {
  const { planned, scope } = nodeExecution
  const node = planned.node as NodeOf<'code'>
  const input = render(planned, 'input', scope.values)
  if ('error' in input) return input
  const { log } = deps.run
  const answer = await log.step(
    { path: scope.path, key: await stepKeyOf('code', [node.program, input.value]), kind: 'code', repeatable: true },
    {
      request: nodeRequest(planned, scope, {}),
      execute: () => {
        deps.onRunning(planned)
        return runProgram(deps, nodeExecution, { node, input: input.value, log: log.within(scope.path) })
      },
    },
  )
  if ('suspended' in answer) return answer
  const isNew = !isReused(answer, deps.run.startedAt)
  if ('error' in answer) {
    const { mayRepeat, usage } = failureData(answer)
    if (usage && isNew) deps.onUsage(usage)
    return attemptOf(answer, mayRepeat)
  }
  const { value, logs, calls } = answer.value as StoredValue
  deps.onLogs(logs)
  if (isNew) deps.onUsage({ calls })
  return { value, at: answer.at }
}

interface NodeProgram {
  node: NodeOf<'code'>
  input: Json
  log: RunLog
}

async function runProgram(
  deps: NodeDeps,
  nodeExecution: NodeExecution,
  { node, input, log: nodeLog }: NodeProgram,
): Promise<StepResult | Suspended> {
  const { executor, run } = deps
  if (!executor)
    return { error: { code: 'function-missing', message: 'This host runs no programs: it has no executor.' } }
  const read = await readProgram({ source: node.program, language: node.language })
  if (!read.ok) return { error: { code: read.error.code, message: read.error.message } }
  const recorded = watchCalls(nodeLog, run)
  const { log } = recorded
  const loadout = narrow(deps.invocation.loadout, { only: node.tools })
  const { functions, seed } = await fixedNames(log, loadout, node.program)
  const { signal, isLate, error } = timed(nodeExecution)
  const inner = { ...run, log, signal }
  const bridge = createBridge(
    {
      calls: throughInvocation(deps, loadout),
      searcher: deps.searcher,
      show: (entry, args) => redactedArguments(deps, entry, args),
      declare: async (entry) => {
        const names = codeNames(loadout.tools, { reserved: BUILT_IN })
        return declare([entry], { maxTokens: 4000, tokenizer: await tokenizerOf(), names }).text
      },
    },
    { run: inner, loadout, functions },
  )
  const program = { source: read.source, input, seed, now: run.startedAt.getTime() }
  const execution = await executor.execute(program, bridge, { limits: tighter(deps.limits, node.limits), signal })
  run.signal.throwIfAborted()
  if (isLate()) return recorded.failed(error)
  if (bridge.fault !== undefined) throw bridge.fault
  return resultOf(execution, recorded)
}

function resultOf(execution: Execution, { log, count, failed }: RecordedCalls): StepResult | Suspended {
  if (execution.status === 'paused') return { suspended: 'paused' }
  if (execution.status === 'completed') {
    if (log.unasked > 0)
      throw new HostError('run-drift', {
        detail: `A program ended without ${log.unasked} of the steps that its log has.`,
      })
    const stored: StoredValue = { value: execution.value, logs: execution.logs, calls: count }
    return { value: stored }
  }
  const { code, message, line } = execution.error
  return failed({ error: { code, message: line === undefined ? message : `${message} (line ${line})` } })
}

/** Function names and the random seed are fixed at the start, so that a resumed program sees the same. */
async function fixedNames(
  log: RunLog,
  loadout: Loadout,
  program: string,
): Promise<{ functions: FunctionMap; seed: string }> {
  const answer = await log.step(
    { path: 'names', key: 'names#', kind: 'names', repeatable: true },
    {
      request: null,
      execute: async () => ({ value: { functions: functionsOf(loadout, program), seed: newId('run') } }),
    },
  )
  if ('value' in answer) return answer.value as { functions: FunctionMap; seed: string }
  throw new HostError('internal')
}

/** Routes program calls through the invocation, which knows the inline toolkits. */
function throughInvocation({ invocation }: NodeDeps, loadout: Loadout): Pick<Calls, 'start'> {
  return {
    start({ toolkit, tool, arguments: args, caller, callId = newId('call'), signal, pauses }) {
      const { promise: pending, resolve } = Promise.withResolvers<ApprovalView>()
      const entry = loadout.entries.find(
        (candidate) => candidate.tool === tool && (candidate.uscoId === toolkit || candidate.toolkit === toolkit),
      )
      const call = {
        name: entry?.modelName ?? tool,
        arguments: args,
        caller,
        callId,
        signal,
        pauses,
        onPending: resolve,
      }
      return { callId, outcome: invocation.call(call), pending, inputRequested: new Promise(() => {}) }
    },
  }
}
