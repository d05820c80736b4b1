/**
 * Every call to a tool starts here: the API, threads, programs and workflows. The pipeline is composed once; a second way
 * to a tool would be a hole. A call that must wait for its user goes on behind, and its outcome is asked for by its id.
 */
import { HostError } from '../errors.ts'
import { createIdGenerator } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { UsersBeingRemoved } from '../users/removing.ts'
import type { CallHandler, CallOutcome, Input, ToolCall } from './call.ts'
import { failed } from './call.ts'
import type { Inputs } from './elicitation.ts'

export interface RunningCall {
  callId: string
  outcome: Promise<CallOutcome>
  /** Resolves when the server asks the user something, and stays open where it does not. */
  inputRequested: Promise<Input>
  /** Resolves when a person must answer first, and stays open where nobody must. */
  pending: Promise<ApprovalView>
}

/** Who keeps a record of a call. */
export interface CallFollower {
  onPending(approval: ApprovalView): void
  /** It was allowed. Waited for, and where it fails the call does not go on. */
  onAllowed(): Promise<void>
}

/** What only the host needs of one. */
export interface FollowedCall extends RunningCall {
  /** From now on; also told where it waits already. */
  follow(follower: CallFollower): void
  /** Whether a server may have seen it by now. */
  wasReached(): boolean
  /** Whether its user is gone by now. */
  isForgotten(): boolean
}

export type CallState =
  | { status: 'running'; input?: Input; approval?: ApprovalView }
  /** `isCut`: of the result only that it was there. */
  | { status: 'done'; outcome: CallOutcome; isCut?: true }

/** What a caller gives; the rest is the pipeline's. */
export type CallRequest = Omit<ToolCall, 'callId' | 'notes' | 'onPending' | 'onAllowed' | 'allowed'> & {
  /** Where it was given one before it began. */
  callId?: string
}

export interface Calls {
  start(call: CallRequest): RunningCall
  /** A call of this user, running or lately done. `not-found` otherwise. */
  get(userId: string, callId: string): CallState
  /** One of this user that runs in this process. */
  running(userId: string, callId: string): RunningCall | undefined
}

/** Only what a second look needs: what is remembered long is what memory is cleaned of most slowly. */
interface CallEntry {
  userId: string
  state: CallState
}

interface RunningEntry extends CallEntry {
  toolkit: string
  onInput(input: Input): void
  call: FollowedCall
  /** Ends it because its user goes. */
  forget(): void
}

/** What only the host needs of them. */
export interface RunningCalls extends Calls {
  start(call: CallRequest): FollowedCall
  /** Ends all of a user who goes, and waits until they have ended. Says how many. */
  endAll(userId: string): Promise<number>
  /** Who has a call under way. */
  users(): string[]
}

const MAX_DONE_CALLS = 10_000
/** Outcomes beyond this are not kept for a second look: they were given to who waited. */
const MAX_RESULT_CHARACTERS = 1_000_000
const DONE_TTL_MS = 10 * 60_000

export interface CallDeps {
  pipeline: CallHandler
  inputs: Inputs
  removing: UsersBeingRemoved
}

export function createCalls({ pipeline, inputs, removing }: CallDeps): RunningCalls {
  const done = createDoneCache()
  const newCallId = createIdGenerator('call')
  const running = new Map<string, RunningEntry>()
  inputs.onRequested((userId, input) => {
    // The protocol does not say which call a question belongs to; the latest of that user and toolkit is the likeliest.
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
        if (!entry.call.isForgotten()) done.add(callId, { userId, state: doneState(result) })
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
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
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
  // A signal may outlive many calls.
  const outcome = run(handler, call).finally(() => signal?.removeEventListener('abort', abort))
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

/** What is done is remembered in two halves: the older is forgotten as a whole, which costs a call nothing. */
function createDoneCache() {
  let young = new Map<string, CallEntry>()
  let old = new Map<string, CallEntry>()
  let since = Date.now()
  return {
    get: (callId: string) => young.get(callId) ?? old.get(callId),
    add(callId: string, entry: CallEntry) {
      const now = Date.now()
      if (young.size >= MAX_DONE_CALLS / 2 || now - since > DONE_TTL_MS / 2) {
        // A quiet time makes both halves old.
        old = now - since > DONE_TTL_MS ? new Map() : young
        young = new Map()
        since = now
      }
      young.set(callId, entry)
    },
  }
}

/** What is too large to be held is in its record, where one was kept. */
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
