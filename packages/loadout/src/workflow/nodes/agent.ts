/** An agent within a workflow: what the model said and each call it made are steps, so that it is run again without either. */

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
import type { Agent, AgentCall, AgentRequest, AgentResult } from '../agent.ts'
import {
  attemptOf,
  callAsStep,
  keyOf,
  type LeafDeps,
  type NodeExecution,
  redactedArguments,
  timed,
} from '../run/node-context.ts'
import { type Attempt, failure, render, requestOf } from '../run/node-result.ts'
import { type CallsMade, failureData, isTaken, watchCalls } from '../run/recorded-calls.ts'
import { createRedactor } from '../run/redacted-text.ts'

/** So long it may take to ask for what its log has. */
const STALLED_MS = 10_000

export async function agentNode(parts: LeafDeps, leaf: NodeExecution): Promise<Attempt> {
  const { planned, place } = leaf
  const node = planned.node as NodeOf<'agent'>
  const prompt = render(planned, 'prompt', place.values)
  const system = render(planned, 'system', place.values)
  if ('error' in prompt) return prompt
  if ('error' in system) return system
  const texts = { prompt: textOf(prompt.value), system: node.system === undefined ? undefined : textOf(system.value) }
  const { log } = parts.run
  const answer = await log.step(
    {
      place: place.place,
      key: await keyOf('agent', [node.model ?? null, texts.prompt, texts.system ?? null]),
      kind: 'agent',
      repeatable: true,
    },
    {
      request: requestOf(planned, place, {
        ...(node.model === undefined ? {} : { model: node.model }),
        prompt: createRedactor(parts.run).text(texts.prompt),
      }),
      execute: () => {
        parts.onRunning(planned)
        return new AgentRun(parts, leaf, texts).go()
      },
    },
  )
  if ('stands' in answer) return answer
  const isNew = !isTaken(answer, parts.run.startedAt)
  if ('error' in answer) {
    const { mayRepeat, usage } = failureData(answer)
    if (usage && isNew) parts.onUsage(usage)
    return attemptOf(answer, mayRepeat)
  }
  const { output, usage, warnings } = answer.value as AgentResult
  if (usage && isNew) parts.onUsage(usage)
  if (warnings) parts.onWarnings(warnings)
  return { value: output, at: answer.at }
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))

interface Texts {
  prompt: string
  system: string | undefined
}

class AgentRun {
  readonly #parts: LeafDeps
  readonly #leaf: NodeExecution
  readonly #texts: Texts
  readonly #log: RunLog
  readonly #made: CallsMade
  readonly #known = new Set<string>()
  /** How often a place was asked for. */
  readonly #places = new Map<string, number>()
  #answers = 0
  readonly #stop = new AbortController()
  #stands: Suspended | undefined
  /** What stops the run itself. */
  #fault: unknown
  #busy = 0
  readonly #spent: Record<string, number> = {}

  constructor(parts: LeafDeps, leaf: NodeExecution, texts: Texts) {
    this.#parts = parts
    this.#leaf = leaf
    this.#texts = texts
    const { log, startedAt } = parts.run
    this.#made = watchCalls(log.within(leaf.place.place), { startedAt, errorIn })
    this.#log = this.#made.log
  }

  async go(): Promise<StepResult | Suspended> {
    const { agent, run } = this.#parts
    const node = this.#leaf.planned.node as NodeOf<'agent'>
    if (!agent) return { error: { code: 'function-missing', message: 'This host has no agent.' } }
    const { signal, isLate, error } = timed(this.#leaf)
    const request = this.#request(node, AbortSignal.any([signal, this.#stop.signal]))
    const result = await settle(agent, request)
    run.signal.throwIfAborted()
    if (this.#fault !== undefined) throw this.#fault
    if (this.#stands) return this.#stands
    if (isLate()) return this.#made.failed(error, this.#spent)
    if ('error' in result) return this.#made.failed(result, this.#spent)
    const given = result.value as AgentResult
    const checked = fitting(node.output, { ...given, usage: { ...given.usage, calls: this.#made.count } })
    return 'error' in checked ? this.#made.failed(checked, given.usage) : checked
  }

  #request({ id, model, output, maxSteps, budget, tools }: NodeOf<'agent'>, signal: AbortSignal): AgentRequest {
    const { userId, threadId, runId } = this.#parts.run
    // Only what it was given: what the node names, not what the workflow has.
    const own = this.#parts.invocation.narrowed({ only: tools, atOnce: tools })
    const call = async (made: AgentCall) => {
      const answer = await this.#inside(signal, () => this.#call(made, own, signal))
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
        const answer = await this.#inside(signal, () => this.#remember(name, ask, signal))
        if ('value' in answer) return answer.value as never
        const { code, message } = answer.error
        throw new HostError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal', { detail: message })
      },
    }
  }

  /** A step of the agent. One that stands ends the agent, once the others that are under way are done. */
  async #inside(signal: AbortSignal, step: () => Promise<StepOutcome>): Promise<Exclude<StepOutcome, Suspended>> {
    this.#busy++
    try {
      const answer = await step()
      if (!('stands' in answer)) return answer
      this.#stands = answer
    } catch (error) {
      // What was only given up is no fault: its time ran out, or the agent stands.
      if (!signal.aborted) this.#fault ??= error
      throw error
    } finally {
      this.#busy--
    }
    while (this.#busy > 0 && !this.#parts.run.signal.aborted) await pause(5)
    const reason = new HostError('approval-pending')
    this.#stop.abort(reason)
    throw reason
  }

  async #call(
    { id, name, arguments: args, visibleRefs, prompt }: AgentCall,
    own: InvocationTools,
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const entry = findTool(own.loadout, name) ?? hostsOwn(name)
    const place = this.#placeOf(id)
    const { runId } = this.#parts.run
    this.#note(place)
    return this.#log.step(
      {
        place,
        key: await keyOf(entry?.ref ?? 'unknown', args),
        kind: 'call',
        repeatable: !entry || isRepeatable(entry),
      },
      {
        request: requestOf(this.#leaf.planned, this.#leaf.place, {
          ref: entry?.ref ?? name,
          arguments: redactedArguments(this.#parts, entry, args),
        }),
        execute: async ({ stepId: callId, approvalId }) => {
          if (approvalId === undefined) await this.#caughtUp()
          if (!entry?.included) return { value: outcomeToJson({ status: 'failed', error: notGiven(name) }) }
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
    const place = `said:${encodeURIComponent(name)}`
    this.#answers++
    this.#note(place)
    return this.#log.step(
      { place, key: 'said#', kind: 'said', repeatable: true },
      {
        request: requestOf(this.#leaf.planned, this.#leaf.place, { said: name }),
        execute: async () => {
          await this.#caughtUp()
          try {
            return { value: await ask() }
          } catch (error) {
            signal.throwIfAborted()
            return failure(error)
          }
        },
      },
    )
  }

  /** Providers number the calls of each answer anew: an id is one only within its answer, and not always there. */
  #placeOf(id: string): string {
    const place = `call:${this.#answers}:${encodeURIComponent(id)}`
    const twins = this.#places.get(place) ?? 0
    this.#places.set(place, twins + 1)
    return twins === 0 ? place : `${place}:${twins}`
  }

  #note(place: string): void {
    if (this.#log.has(place)) this.#known.add(place)
  }

  /** Before anything new is done, all that was done before has been asked for: else it is not the agent that wrote the log. */
  async #caughtUp(): Promise<void> {
    const until = Date.now() + STALLED_MS
    while (this.#known.size < this.#log.recorded) {
      this.#parts.run.signal.throwIfAborted()
      if (Date.now() > until)
        throw new HostError('run-drift', {
          detail: `The agent of '${this.#leaf.planned.node.id}' asks for other calls than before.`,
        })
      await pause(5)
    }
  }
}

/** What a call ended with, as its step keeps it. */
function errorIn(value: Json): string | undefined {
  const { status, error } = value as { status?: string; error?: { code: string } }
  return status === 'tool-error' ? status : error?.code
}

async function settle(agent: Agent, request: AgentRequest): Promise<StepResult> {
  try {
    const { output, usage, warnings = [] } = await agent(request)
    return { value: { output, ...(usage ? { usage } : {}), ...(warnings.length > 0 ? { warnings } : {}) } }
  } catch (error) {
    return failure(error)
  }
}

/** What it gives must fit what the node says of it. */
function fitting(schema: JsonObject | undefined, result: AgentResult): StepResult {
  const compiled = schema ? compileSchema(schema) : undefined
  const checked = compiled?.ok ? compiled.validate(result.output) : undefined
  if (checked?.valid !== false) return { value: result }
  const why = checked.errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return { error: { code: 'invalid-output', message: `The agent gave what does not fit: ${why}` } }
}

/** What the host itself gives an agent: to find what waits, and to read what was too large. */
const hostsOwn = (name: string): LoadoutEntry | undefined =>
  [SEARCH_ENTRY, READ_ENTRY].find(({ modelName, ref }) => name === modelName || name === ref)

const notGiven = (name: string) =>
  new HostError('tool-not-found', { detail: `There is no tool '${name.slice(0, 100)}' for this agent.` })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
