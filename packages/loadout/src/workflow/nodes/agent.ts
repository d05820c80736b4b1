/** Agent node: stores each model reply and each tool call as a step, so that a resumed agent repeats neither. */
import { READ_ENTRY } from '../../calls/built-in/built-in-tools.ts'
import { isRepeatable } from '../../calls/call.ts'
import { findTool } from '../../calls/call-by-name.ts'
import type { InvocationTools } from '../../calls/invocation.ts'
import { outcomeFromJson, outcomeToJson } from '../../calls/records/outcome-json.ts'
import { ERRORS, type ErrorCode, HostError } from '../../errors.ts'
import { compileSchema } from '../../json-schema/validator.ts'
import type { RunLog, StepOutcome, StepResult, Suspended } from '../../runs/engine.ts'
import type { Json, JsonObject } from '../../schema/json.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { SEARCH_ENTRY } from '../../search/search-tools.ts'
import { sleep } from '../../util/abort.ts'
import type { Agent, AgentCall, AgentRequest, AgentResult } from '../agent.ts'
import {
  attemptOf,
  callAsStep,
  type NodeDeps,
  type NodeExecution,
  redactedArguments,
  stepKeyOf,
  timed,
} from '../run/node-context.ts'
import { type Attempt, nodeFailure, nodeRequest, render } from '../run/node-result.ts'
import { failureData, isReused, type RecordedCalls, watchCalls } from '../run/recorded-calls.ts'
import { createTextRedactor } from '../run/redacted-text.ts'

/** Max time for a resumed agent to request all recorded steps. */
const STALLED_MS = 10_000

export async function runAgentNode(deps: NodeDeps, execution: NodeExecution): Promise<Attempt> {
  const { planned, scope } = execution
  const node = planned.node as NodeOf<'agent'>
  const prompt = render(planned, 'prompt', scope.values)
  const system = render(planned, 'system', scope.values)
  if ('error' in prompt) return prompt
  if ('error' in system) return system
  const texts = { prompt: textOf(prompt.value), system: node.system === undefined ? undefined : textOf(system.value) }
  const { log } = deps.run
  const answer = await log.step(
    {
      path: scope.path,
      key: await stepKeyOf('agent', [node.model ?? null, texts.prompt, texts.system ?? null]),
      kind: 'agent',
      repeatable: true,
    },
    {
      request: nodeRequest(planned, scope, {
        ...(node.model === undefined ? {} : { model: node.model }),
        prompt: createTextRedactor(deps.run).text(texts.prompt),
      }),
      execute: () => {
        deps.onRunning(planned)
        return new AgentRun(deps, execution, texts).go()
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
  const { output, usage, warnings } = answer.value as AgentResult
  if (usage && isNew) deps.onUsage(usage)
  if (warnings) deps.onWarnings(warnings)
  return { value: output, at: answer.at }
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))

interface Texts {
  prompt: string
  system: string | undefined
}

class AgentRun {
  readonly #deps: NodeDeps
  readonly #execution: NodeExecution
  readonly #texts: Texts
  readonly #log: RunLog
  readonly #recorded: RecordedCalls
  readonly #replayed = new Set<string>()
  /** Number of calls per path. */
  readonly #pathCounts = new Map<string, number>()
  #modelReplies = 0
  readonly #stop = new AbortController()
  #suspended: Suspended | undefined
  /** Error that fails the run, not only the node. */
  #fault: unknown
  #busy = 0
  readonly #spent: Record<string, number> = {}

  constructor(deps: NodeDeps, execution: NodeExecution, texts: Texts) {
    this.#deps = deps
    this.#execution = execution
    this.#texts = texts
    const { log, startedAt } = deps.run
    this.#recorded = watchCalls(log.within(execution.scope.path), { startedAt, errorIn })
    this.#log = this.#recorded.log
  }

  async go(): Promise<StepResult | Suspended> {
    const { agent, run } = this.#deps
    const node = this.#execution.planned.node as NodeOf<'agent'>
    if (!agent) return { error: { code: 'function-missing', message: 'This host has no agent.' } }
    const { signal, isLate, error } = timed(this.#execution)
    const request = this.#request(node, AbortSignal.any([signal, this.#stop.signal]))
    const result = await settle(agent, request)
    run.signal.throwIfAborted()
    if (this.#fault !== undefined) throw this.#fault
    if (this.#suspended) return this.#suspended
    if (isLate()) return this.#recorded.failed(error, this.#spent)
    if ('error' in result) return this.#recorded.failed(result, this.#spent)
    const agentResult = result.value as AgentResult
    const checked = validateOutput(node.output, {
      ...agentResult,
      usage: { ...agentResult.usage, calls: this.#recorded.count },
    })
    return 'error' in checked ? this.#recorded.failed(checked, agentResult.usage) : checked
  }

  #request({ id, model, output, maxSteps, budget, tools }: NodeOf<'agent'>, signal: AbortSignal): AgentRequest {
    const { userId, threadId, runId } = this.#deps.run
    // The agent gets only the tools that the node names.
    const own = this.#deps.invocation.narrowed({ only: tools, atOnce: tools })
    const call = async (agentCall: AgentCall) => {
      const answer = await this.#runStep(signal, () => this.#call(agentCall, own, signal))
      if ('value' in answer) return outcomeFromJson(answer.value as JsonObject)
      throw new HostError('internal')
    }
    return {
      userId,
      threadId,
      runId,
      node: id,
      model,
      output,
      maxSteps,
      budget,
      signal,
      ...this.#texts,
      loadout: own.loadout,
      call,
      resolve: (options) =>
        own.select(options, ({ id: callId = '', name, arguments: args, visibleRefs, prompt }) =>
          call({ id: callId, name, arguments: args, visibleRefs, prompt }),
        ),
      spend: (usage) => {
        for (const [name, count] of Object.entries(usage)) this.#spent[name] = (this.#spent[name] ?? 0) + count
      },
      remember: async (name, ask) => {
        const answer = await this.#runStep(signal, () => this.#remember(name, ask, signal))
        if ('value' in answer) return answer.value as never
        const { code, message } = answer.error
        throw new HostError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal', { detail: message })
      },
    }
  }

  /** Runs one step. A suspended step ends the agent after all other running steps finish. */
  async #runStep(signal: AbortSignal, step: () => Promise<StepOutcome>): Promise<Exclude<StepOutcome, Suspended>> {
    this.#busy++
    try {
      const answer = await step()
      if (!('suspended' in answer)) return answer
      this.#suspended = answer
    } catch (error) {
      // An aborted step is no fault: it timed out or the agent is suspended.
      if (!signal.aborted) this.#fault ??= error
      throw error
    } finally {
      this.#busy--
    }
    while (this.#busy > 0 && !this.#deps.run.signal.aborted) await sleep(5, { keepAlive: true })
    const reason = new HostError('approval-pending')
    this.#stop.abort(reason)
    throw reason
  }

  async #call(
    { id, name, arguments: args, visibleRefs, prompt }: AgentCall,
    own: InvocationTools,
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const entry = findTool(own.loadout, name) ?? builtInTool(name)
    const path = this.#pathOf(id)
    const { runId } = this.#deps.run
    this.#note(path)
    return this.#log.step(
      {
        path,
        key: await stepKeyOf(entry?.ref ?? 'unknown', args),
        kind: 'call',
        repeatable: !entry || isRepeatable(entry),
      },
      {
        request: nodeRequest(this.#execution.planned, this.#execution.scope, {
          ref: entry?.ref ?? name,
          arguments: redactedArguments(this.#deps, entry, args),
        }),
        execute: async ({ stepId: callId, approvalId }) => {
          if (approvalId === undefined) await this.#waitForReplay()
          if (!entry?.included) return { value: outcomeToJson({ status: 'failed', error: unknownTool(name) }) }
          const caller = { type: 'direct' as const, toolId: runId }
          const call = { name: entry.modelName, arguments: args, caller, visibleRefs, prompt }
          return callAsStep({ invocation: own }, { ...call, callId, signal, pauses: { approvalId } }, (outcome) => ({
            value: outcomeToJson(outcome),
          }))
        },
      },
    )
  }

  #remember(name: string, ask: () => Promise<Json>, signal: AbortSignal): Promise<StepOutcome> {
    const path = `said:${encodeURIComponent(name)}`
    this.#modelReplies++
    this.#note(path)
    return this.#log.step(
      { path, key: 'said#', kind: 'said', repeatable: true },
      {
        request: nodeRequest(this.#execution.planned, this.#execution.scope, { said: name }),
        execute: async () => {
          await this.#waitForReplay()
          try {
            return { value: await ask() }
          } catch (error) {
            signal.throwIfAborted()
            return nodeFailure(error)
          }
        },
      },
    )
  }

  /** Providers restart call IDs in each reply and may omit them, so a path includes the reply number. */
  #pathOf(id: string): string {
    const path = `call:${this.#modelReplies}:${encodeURIComponent(id)}`
    const twins = this.#pathCounts.get(path) ?? 0
    this.#pathCounts.set(path, twins + 1)
    return twins === 0 ? path : `${path}:${twins}`
  }

  #note(path: string): void {
    if (this.#log.has(path)) this.#replayed.add(path)
  }

  /** New steps wait until all recorded steps were requested; otherwise the log belongs to another agent. */
  async #waitForReplay(): Promise<void> {
    const until = Date.now() + STALLED_MS
    while (this.#replayed.size < this.#log.recorded) {
      this.#deps.run.signal.throwIfAborted()
      if (Date.now() > until)
        throw new HostError('run-drift', {
          detail: `The agent of '${this.#execution.planned.node.id}' asks for other calls than before.`,
        })
      await sleep(5, { keepAlive: true })
    }
  }
}

/** Error code of a stored call outcome. */
function errorIn(value: Json): string | undefined {
  const { status, error } = value as { status?: string; error?: { code: string } }
  return status === 'tool-error' ? status : error?.code
}

async function settle(agent: Agent, request: AgentRequest): Promise<StepResult> {
  try {
    const { output, usage, warnings = [] } = await agent(request)
    return { value: { output, ...(usage ? { usage } : {}), ...(warnings.length > 0 ? { warnings } : {}) } }
  } catch (error) {
    return nodeFailure(error)
  }
}

/** Validates the agent's output against the schema of the node. */
function validateOutput(schema: JsonObject | undefined, result: AgentResult): StepResult {
  const compiled = schema ? compileSchema(schema) : undefined
  const checked = compiled?.ok ? compiled.validate(result.output) : undefined
  if (checked?.valid !== false) return { value: result }
  const why = checked.errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return { error: { code: 'invalid-output', message: `The agent gave what does not fit: ${why}` } }
}

/** Built-in tools of agents: `search_tools` and `read_result`. */
const builtInTool = (name: string): LoadoutEntry | undefined =>
  [SEARCH_ENTRY, READ_ENTRY].find(({ modelName, ref }) => name === modelName || name === ref)

const unknownTool = (name: string) =>
  new HostError('tool-not-found', { detail: `There is no tool '${name.slice(0, 100)}' for this agent.` })
