/**
 * The contract of what runs an agent node: a model with tools, until it has an answer. What holds of whoever fulfils it:
 *
 * - A tool is called by `call`, or through what `resolve` gives, and in no other way. Each call is a step: made once, whatever
 *   happens to the process. `search_tools` is one: what it found is found again where the agent is run again.
 * - What a model says is kept by `remember`, in the order in which it is asked: an agent that goes on after a crash, or
 *   after a person answered, is run from its beginning and hears the same again. An agent that then asks for other calls than
 *   it asked for before is stopped (`run-drift`) before it makes one.
 * - Where a call must wait for a person, `call` rejects and `signal` is aborted: the agent ends, whatever it gives.
 */
import type { CallOutcome } from '../calls/call.ts'
import type { NamedCall } from '../calls/call-by-name.ts'
import type { Selection } from '../calls/selection.ts'
import type { HostError } from '../errors.ts'
import type { Loadout } from '../loadout/overlay.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { ResolveOptions } from '../schema/toolkit/selection.ts'

export interface AgentCall extends Pick<NamedCall, 'visibleRefs' | 'prompt'> {
  /** The model's own id of the call: the same call has the same id when the agent is run again. */
  id: string
  /** A model's name or a ref. */
  name: string
  arguments: JsonObject
}

export interface AgentRequest {
  userId: string
  threadId: string | undefined
  runId: string
  node: string
  /** `provider:model`; the host's own where it is not named. */
  model: string | undefined
  system: string | undefined
  prompt: string
  /** JSON Schema of the answer; text where there is none. */
  output: JsonObject | undefined
  /** How often the model may be asked. */
  maxSteps: number
  /** Tokens in all, of what the model is sent and of what it says. */
  budget: number | undefined
  /** The tools that it may call. */
  loadout: Loadout
  signal: AbortSignal
  /** What a model is shown of them at first: tools that the node names one by one, and of the rest what the prompt needs. */
  resolve(options: ResolveOptions): Promise<Selection>
  call(call: AgentCall): Promise<CallOutcome>
  /** Tells what was used as it goes: where it has no answer in the end, that is what it cost. */
  spend(usage: Readonly<Record<string, number>>): void
  /** Asks, or gives what was answered before. `name` is the same for the same question: `model-0`. */
  remember<T extends Json>(name: string, ask: () => Promise<T>): Promise<T>
}

export interface AgentResult {
  output: Json
  /** Numbers that are added up over the run: `inputTokens`, `outputTokens`. */
  usage?: Readonly<Record<string, number>> | undefined
  /** What did not go as it could have: the run tells it. */
  warnings?: readonly string[] | undefined
}

/** The most that one agent may take, whatever its node asks for. */
export interface AgentCeiling {
  maxSteps?: number | undefined
  budget?: number | undefined
}

export interface Agent {
  (request: AgentRequest): Promise<AgentResult>
  /** What keeps a model from being asked: one that is not named, or has no key. Nothing is sent to find out. @default not known */
  problem?(userId: string, model: string | undefined): Promise<HostError | undefined>
  /** What the operator allows, as it is now. @default not known */
  ceiling?(): Promise<AgentCeiling>
}
