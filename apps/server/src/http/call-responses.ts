/** Call responses, identical for running calls and for recorded calls of any process. */

import { type CallOutcome, HostError } from '@loadout/core'
import { approvalView } from '@loadout/core/schema'
import type { CallRecord, HostServices, RunningCall } from '@loadout/core/services'
import type { Context } from 'hono'
import { z } from 'zod'
import type { Env } from './env.ts'
import { named } from './openapi.ts'

export const block = z.record(z.string(), z.unknown())
export const done = z
  .object({
    callId: z.string(),
    status: z.enum(['ok', 'tool-error']),
    content: z.array(block),
    structuredContent: z.unknown().optional(),
    resultHandle: z.string().optional(),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'Arguments that were sent although they differ from the `format` of the schema' }),
  })
  .meta({ id: 'CallResult' })
export const input = z.object({ id: z.string(), toolkit: z.string(), question: block }).meta({ id: 'Input' })
export const pendingCall = z
  .object({
    callId: z.string(),
    status: z.enum(['running', 'input-needed', 'pending']),
    input: input.optional(),
    approval: named(approvalView, 'Approval').optional(),
  })
  .meta({ id: 'CallWaiting' })

type Done = z.infer<typeof done>
type Waiting = z.infer<typeof pendingCall>
export type CallResponse = Done | Waiting

export const isPending = (answer: CallResponse): answer is Waiting => !('content' in answer)

export function respond(c: Context<Env>, answer: CallResponse) {
  return isPending(answer) ? c.json(answer, 202) : c.json(answer, 200)
}

/** Waits for the outcome, an input request or an approval request. */
export async function settled(running: RunningCall): Promise<CallResponse> {
  const { callId } = running
  const first = await Promise.race([running.outcome, running.inputRequested, running.pending])
  if ('question' in first) return { callId, status: 'input-needed', input: viewInput(first) }
  if ('expiresAt' in first) return { callId, status: 'pending', approval: first }
  return { callId, ...resultOf(first) }
}

/** The same for a call that was started earlier, possibly in another process. */
export async function settledLater(
  host: HostServices,
  { userId, callId }: Pick<CallRecord, 'userId' | 'callId'>,
  signal: AbortSignal,
): Promise<CallResponse> {
  const running = host.calls.running(userId, callId)
  return running ? settled(running) : fromRecord(host, await host.records.settled(userId, callId, { signal }))
}

/** Returns the current state of a call. */
export async function readCall(host: HostServices, userId: string, callId: string): Promise<CallResponse> {
  return stateOf(host, userId, callId) ?? fromRecord(host, await host.records.get(userId, callId))
}

/** State of a call that runs in this process. */
function stateOf(host: HostServices, userId: string, callId: string): CallResponse | undefined {
  const state = orNotFound(() => host.calls.get(userId, callId))
  if (state === undefined || (state.status === 'done' && state.isCut)) return undefined
  if (state.status === 'done') return { callId, ...resultOf(state.outcome) }
  if (state.input) return { callId, status: 'input-needed', input: viewInput(state.input) }
  if (state.approval) return { callId, status: 'pending', approval: state.approval }
  return { callId, status: 'running' }
}

/** State of a recorded call. */
export async function fromRecord(
  host: HostServices,
  { userId, callId, status, outcome, approvalId, finishedAt }: CallRecord,
): Promise<CallResponse> {
  if (outcome) return { callId, ...resultOf(asOfNow(outcome, finishedAt)) }
  if (status !== 'pending' || approvalId === null) return { callId, status: 'running' }
  const approval = await host.approvals.get(userId, approvalId).catch(() => undefined)
  return { callId, status: 'pending', ...(approval ? { approval } : {}) }
}

/** Subtracts the elapsed time from a recorded `retryAfterMs`. */
function asOfNow(outcome: CallOutcome, finishedAt: Date | null): CallOutcome {
  if (!('error' in outcome) || outcome.error.retryAfterMs === undefined || !finishedAt) return outcome
  const retryAfterMs = Math.max(0, outcome.error.retryAfterMs - (Date.now() - finishedAt.getTime()))
  return { ...outcome, error: outcome.error.with({ retryAfterMs }) }
}

type CallSuccess = Exclude<CallOutcome, { error: unknown }>
type ResultView = Pick<CallSuccess, 'status' | 'content' | 'structuredContent' | 'resultHandle' | 'warnings'>

export function resultOf(outcome: CallOutcome): ResultView {
  if ('error' in outcome) throw outcome.error
  const { status, content, structuredContent, resultHandle, warnings } = outcome
  return {
    status,
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(resultHandle === undefined ? {} : { resultHandle }),
    ...(warnings === undefined ? {} : { warnings }),
  }
}

export const viewInput = ({ id, toolkit, question }: { id: string; toolkit: string; question: object }) => ({
  id,
  toolkit,
  question: { ...question },
})

function orNotFound<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (HostError.is(error) && error.code === 'not-found') return undefined
    throw error
  }
}
