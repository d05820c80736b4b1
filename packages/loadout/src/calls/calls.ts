/**
 * Every call to a tool starts here: the API, threads, programs and workflows. The pipeline is composed once; a second way
 * to a tool would be a hole. A call that must wait for its user goes on behind, and its outcome is asked for by its id.
 */
import { HostError } from '../errors.ts'
import type { ApprovalView } from '../schema/approval.ts'
import { idMaker } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { CallHandler, CallOutcome, Input, ToolCall } from './call.ts'
import type { Inputs } from './inputs.ts'
import { failed } from './resolve.ts'

export interface RunningCall {
  callId: string
  outcome: Promise<CallOutcome>
  /** Resolves when the server asks the user something, and stays open where it does not. */
  asked: Promise<Input>
  /** Resolves when a person must answer first, and stays open where nobody must. */
  pending: Promise<ApprovalView>
}

export type CallState =
  | { status: 'running'; input?: Input; approval?: ApprovalView }
  | { status: 'done'; outcome: CallOutcome }

/** What a caller gives; the rest is the pipeline's. */
export type CallRequest = Omit<ToolCall, 'callId' | 'notes' | 'onPending'> & {
  /** Where it was given one before it began. */
  callId?: string
}

export interface Calls {
  start(call: CallRequest): RunningCall
  /** A call of this user, running or lately done. `not-found` otherwise. */
  get(userId: string, callId: string): CallState
}

/** Only what a second look needs: what is remembered long is what memory is cleaned of most slowly. */
interface Kept {
  userId: string
  state: CallState
}

interface Running extends Kept {
  toolkit: string
  onAsked(input: Input): void
}

const KEPT_CALLS = 10_000
/** Outcomes beyond this are not kept for a second look: they were given to who waited. */
const KEPT_CHARACTERS = 1_000_000
const KEPT_MS = 10 * 60_000

export function createCalls({ pipeline, inputs }: { pipeline: CallHandler; inputs: Inputs }): Calls {
  const done = createMemory()
  const newCallId = idMaker('call')
  const running = new Map<string, Running>()
  inputs.onAsked((userId, input) => {
    // The protocol does not say which call a question belongs to; the latest of that user and toolkit is the likeliest.
    const asking = [...running.values()].findLast(
      (one) => one.userId === userId && (one.toolkit === input.toolkit || one.toolkit === input.uscoId),
    )
    asking?.onAsked(input)
  })
  inputs.onSettled((inputId) => {
    for (const entry of running.values())
      if (entry.state.status === 'running' && entry.state.input?.id === inputId) entry.state = { status: 'running' }
  })
  return {
    start(request) {
      const { promise: asked, resolve } = Promise.withResolvers<Input>()
      const { promise: pending, resolve: resolvePending } = Promise.withResolvers<ApprovalView>()
      const onPending = (approval: ApprovalView) => {
        entry.state = { status: 'running', approval }
        resolvePending(approval)
      }
      const call: ToolCall = { ...request, callId: request.callId ?? newCallId(), notes: {}, onPending }
      const entry: Running = {
        userId: call.userId,
        toolkit: call.toolkit,
        state: { status: 'running' },
        onAsked(input) {
          entry.state = { status: 'running', input }
          resolve(input)
        },
      }
      running.set(call.callId, entry)
      const outcome = run(pipeline, call).then((result) => {
        running.delete(call.callId)
        done.add(call.callId, { userId: call.userId, state: { status: 'done', outcome: smallEnough(result) } })
        return result
      })
      return { callId: call.callId, outcome, asked, pending }
    },
    get(userId, callId) {
      const found = running.get(callId) ?? done.get(callId)
      if (found?.userId !== userId) throw new HostError('not-found', { detail: 'There is no such call of yours.' })
      return found.state
    },
  }
}

/** What is done is remembered in two halves: the older is forgotten as a whole, which costs a call nothing. */
function createMemory() {
  let young = new Map<string, Kept>()
  let old = new Map<string, Kept>()
  let since = Date.now()
  return {
    get: (callId: string) => young.get(callId) ?? old.get(callId),
    add(callId: string, entry: Kept) {
      const now = Date.now()
      if (young.size >= KEPT_CALLS / 2 || now - since > KEPT_MS / 2) {
        // A quiet time makes both halves old.
        old = now - since > KEPT_MS ? new Map() : young
        young = new Map()
        since = now
      }
      young.set(callId, entry)
    },
  }
}

function smallEnough(outcome: CallOutcome): CallOutcome {
  if ('error' in outcome || sizeOf(outcome.content) <= KEPT_CHARACTERS) return outcome
  return { status: outcome.status, content: [{ type: 'text', text: 'The result was too large to be kept.' }] }
}

const sizeOf = (content: readonly JsonObject[]) =>
  content.reduce((sum, block) => sum + String(block.text ?? block.data ?? '').length, 0)

async function run(pipeline: CallHandler, call: ToolCall): Promise<CallOutcome> {
  try {
    return await pipeline(call)
  } catch (error) {
    return failed(HostError.from(error))
  }
}
