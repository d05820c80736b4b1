/**
 * Entry point of every tool call: API, threads, programs and workflows. There must be no second path to a tool. A call
 * that waits for its user continues in the background, and its outcome is available by its ID.
 */

import { LRUCache } from 'lru-cache'
import { HostError } from '../errors.ts'
import { createIdGenerator } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { UsersBeingRemoved } from '../users/removing.ts'
import { linkedController } from '../util/abort.ts'
import type { CallHandler, CallOutcome, Input, ToolCall } from './call.ts'
import { failed } from './call.ts'
import type { Inputs } from './elicitation.ts'

export interface RunningCall {
  callId: string
  outcome: Promise<CallOutcome>
  /** Resolves when the server requests input; otherwise stays pending. */
  inputRequested: Promise<Input>
  /** Resolves when the call needs approval; otherwise stays pending. */
  pending: Promise<ApprovalView>
}

/** Observer that keeps a record of a call. */
export interface CallFollower {
  onPending(approval: ApprovalView): void
  /** Called after approval. The call waits for it, and does not continue if it rejects. */
  onAllowed(): Promise<void>
}

/** Members that only the host uses. */
export interface FollowedCall extends RunningCall {
  /** Adds an observer. It is notified at once if the call already needs approval. */
  follow(follower: CallFollower): void
  /** Whether a server may have received the call. */
  wasReached(): boolean
  /** Whether the user was removed. */
  isForgotten(): boolean
}

export type CallState =
  | { status: 'running'; input?: Input; approval?: ApprovalView }
  /** `isCut`: the result was too large and is missing. */
  | { status: 'done'; outcome: CallOutcome; isCut?: true }

/** Fields of a call that the caller sets. */
export type CallRequest = Omit<ToolCall, 'callId' | 'notes' | 'onPending' | 'onAllowed' | 'allowed'> & {
  /** Predefined call ID. */
  callId?: string
}

export interface Calls {
  start(call: CallRequest): RunningCall
  /** A running or recently finished call of this user; otherwise `not-found`. */
  get(userId: string, callId: string): CallState
  /** A call of this user that runs in this process. */
  running(userId: string, callId: string): RunningCall | undefined
}

/** Keep this small: entries live for 10 minutes and end up in the old generation of the heap. */
interface CallEntry {
  userId: string
  state: CallState
}

interface RunningEntry extends CallEntry {
  toolkit: string
  onInput(input: Input): void
  call: FollowedCall
  /** Cancels the call because its user is being removed. */
  forget(): void
}

/** Members that only the host uses. */
export interface RunningCalls extends Calls {
  start(call: CallRequest): FollowedCall
  /** Cancels all calls of a user and waits for them to end. Returns their number. */
  endAll(userId: string): Promise<number>
  /** Users with running calls. */
  users(): string[]
}

const MAX_DONE_CALLS = 10_000
/** Larger results are not cached; the caller has received them. */
const MAX_RESULT_CHARACTERS = 1_000_000
const DONE_TTL_MS = 10 * 60_000
const DONE_TTL_RESOLUTION_MS = 1000

export interface CallDeps {
  pipeline: CallHandler
  inputs: Inputs
  removing: UsersBeingRemoved
}

export function createCalls({ pipeline, inputs, removing }: CallDeps): RunningCalls {
  const done = new LRUCache<string, CallEntry>({
    max: MAX_DONE_CALLS,
    ttl: DONE_TTL_MS,
    ttlResolution: DONE_TTL_RESOLUTION_MS,
  })
  const newCallId = createIdGenerator('call')
  const running = new Map<string, RunningEntry>()
  inputs.onRequested((userId, input) => {
    // The protocol does not link an elicitation to a call; the latest call of that user and toolkit is most likely.
    const target = [...running.values()].findLast(
      (entry) => entry.userId === userId && (entry.toolkit === input.toolkit || entry.toolkit === input.uscoId),
    )
    target?.onInput(input)
  })
  inputs.onSettled((inputId) => {
    for (const entry of running.values())
      if (entry.state.status === 'running' && entry.state.input?.id === inputId) entry.state = { status: 'running' }
  })
  return {
    start(request) {
      const callId = request.callId ?? newCallId()
      const handler = removing.has(request.userId) ? refuse : pipeline
      const entry = startCall({ ...request, callId, notes: {} }, handler)
      const { userId } = entry
      running.set(callId, entry)
      void entry.call.outcome.then((result) => {
        running.delete(callId)
        if (!entry.call.isForgotten()) done.set(callId, { userId, state: doneState(result) })
      })
      return entry.call
    },
    get(userId, callId) {
      const found = running.get(callId) ?? done.get(callId)
      if (found?.userId !== userId) throw new HostError('not-found', { detail: 'There is no such call of yours.' })
      return found.state
    },
    running(userId, callId) {
      const found = running.get(callId)
      return found?.userId === userId ? found.call : undefined
    },
    users: () => [...new Set([...running.values()].map((entry) => entry.userId))],
    async endAll(userId) {
      const entries = [...running.values()].filter((entry) => entry.userId === userId)
      for (const entry of entries) entry.forget()
      await Promise.allSettled(entries.map((entry) => entry.call.outcome))
      return entries.length
    },
  }
}

const refuse: CallHandler = async () =>
  failed(new HostError('cancelled', { detail: 'The user is being removed.', action: 'Nothing: they are gone.' }))

function startCall(request: Omit<ToolCall, 'onPending' | 'onAllowed'>, handler: CallHandler): RunningEntry {
  const { promise: inputRequested, resolve } = Promise.withResolvers<Input>()
  const { promise: pending, resolve: resolvePending } = Promise.withResolvers<ApprovalView>()
  const { userId, callId, toolkit, notes, signal } = request
  const followers: CallFollower[] = []
  const { controller: end, unlink } = linkedController(signal)
  const call: ToolCall = {
    ...request,
    signal: end.signal,
    onPending(approval) {
      entry.state = { status: 'running', approval }
      resolvePending(approval)
      for (const follower of followers) follower.onPending(approval)
    },
    async onAllowed() {
      entry.state = { status: 'running' }
      for (const follower of followers) await follower.onAllowed()
    },
  }
  // The signal may live longer than the call, so its listener must be removed.
  const outcome = run(handler, call).finally(unlink)
  const follow = (follower: CallFollower) => {
    followers.push(follower)
    if (entry.state.status === 'running' && entry.state.approval) follower.onPending(entry.state.approval)
  }
  const entry: RunningEntry = {
    userId,
    toolkit,
    state: { status: 'running' },
    onInput(input) {
      entry.state = { status: 'running', input }
      resolve(input)
    },
    forget() {
      notes.isForgotten = true
      end.abort()
    },
    call: {
      callId,
      outcome,
      inputRequested,
      pending,
      follow,
      wasReached: () => notes.reached === true,
      isForgotten: () => notes.isForgotten === true,
    },
  }
  return entry
}

/** A result that is too large for the cache is in the call record, if there is one. */
function doneState(outcome: CallOutcome): CallState {
  if ('error' in outcome || contentLength(outcome.content) <= MAX_RESULT_CHARACTERS) return { status: 'done', outcome }
  const content = [{ type: 'text', text: 'The result was too large to be kept.' }]
  return { status: 'done', outcome: { status: outcome.status, content }, isCut: true }
}

const contentLength = (content: readonly JsonObject[]) =>
  content.reduce((sum, block) => sum + String(block.text ?? block.data ?? '').length, 0)

async function run(pipeline: CallHandler, call: ToolCall): Promise<CallOutcome> {
  try {
    return await pipeline(call)
  } catch (error) {
    return failed(HostError.from(error))
  }
}
