/**
 * Contract of an agent: a model that calls tools until it has an answer. Every implementation guarantees:
 *
 * - Tools are called only through `call` or the selection that `resolve` returns. Each call, including `search_tools`,
 *   is a step and runs once, even across crashes.
 * - Model replies go through `remember`, in order. After a crash or an approval the agent restarts and receives the
 *   same replies. An agent that then requests different calls fails with `run-drift` before it makes one.
 * - When a call needs an approval, `call` rejects and `signal` aborts; the agent's result is ignored.
 */
import type { CallOutcome } from '../calls/call.ts'
import type { NamedCall } from '../calls/call-by-name.ts'
import type { Selection } from '../calls/selection.ts'
import type { HostError } from '../errors.ts'
import type { Loadout } from '../loadout/overlay.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { ResolveOptions } from '../schema/toolkit/selection.ts'

export interface AgentCall extends Pick<NamedCall, 'visibleRefs' | 'prompt'> {
  /** The model's ID of the call; it is the same when the agent runs again. */
  id: string
  /** Model name or ref of the tool. */
  name: string
  arguments: JsonObject
}

export interface AgentRequest {
  userId: string
  threadId: string | undefined
  runId: string
  node: string
  /** `provider:model`. @default the host's model */
  model: string | undefined
  system: string | undefined
  prompt: string
  /** JSON Schema of the output; undefined for text. */
  output: JsonObject | undefined
  /** Max model requests. */
  maxSteps: number
  /** Max input and output tokens together. */
  budget: number | undefined
  /** Tools that the agent may call. */
  loadout: Loadout
  signal: AbortSignal
  /** Selects the tools for the model: those that the node names, and of the rest those that match the prompt. */
  resolve(options: ResolveOptions): Promise<Selection>
  call(call: AgentCall): Promise<CallOutcome>
  /** Reports usage while the agent runs, so that a failed agent is charged too. */
  spend(usage: Readonly<Record<string, number>>): void
  /** Calls `ask`, or returns the stored reply. The same request has the same `name`, such as `model-0`. */
  remember<T extends Json>(name: string, ask: () => Promise<T>): Promise<T>
}

export interface AgentResult {
  output: Json
  /** Numbers that the run sums up: `inputTokens`, `outputTokens`. */
  usage?: Readonly<Record<string, number>> | undefined
  /** Warnings that the run reports. */
  warnings?: readonly string[] | undefined
}

/** Operator limits for one agent; a node cannot exceed them. */
export interface AgentCeiling {
  maxSteps?: number | undefined
  budget?: number | undefined
}

export interface Agent {
  (request: AgentRequest): Promise<AgentResult>
  /**
   * Reports why a model cannot be used, such as an unknown name or a missing key. Sends no request. @default not
   * checked
   */
  problem?(userId: string, model: string | undefined): Promise<HostError | undefined>
  /** Current operator limits. @default none */
  ceiling?(): Promise<AgentCeiling>
}
