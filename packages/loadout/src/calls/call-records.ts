/**
 * Calls that may be asked for later, or again with the same idempotency key, in any process: one row each. A call without
 * either leaves only its audit, so that it does not pay for this.
 */
import { HostError } from '../errors.ts'
import type { CallRow } from '../schema/call.ts'
import { newId } from '../schema/ids.ts'
import { canonicalJson, type JsonObject } from '../schema/json.ts'
import type { Storage } from '../storage/storage.ts'
import type { CallOutcome } from './call.ts'
import type { CallRequest, Calls, RunningCall } from './calls.ts'

export interface RecordOptions {
  /** The same key is the same call: it is made once. */
  idempotencyKey?: string | undefined
}

export type Recorded = { callId: string; running: RunningCall } | { callId: string; row: CallRow }

export interface CallRecords {
  /** Starts the call and keeps a record of it; or gives the record, where the key was used before. */
  start(request: CallRequest, options?: RecordOptions): Promise<Recorded>
  /** Keeps a record of a call that turns out to take longer than its caller waits. */
  adopt(request: CallRequest, running: RunningCall): Promise<void>
  /** A record of this user. `not-found` otherwise. */
  get(userId: string, callId: string): Promise<CallRow>
}

const KEEP_MS = 24 * 3_600_000
const MOST_CHARACTERS = 1_000_000

export function createCallRecords({ storage, calls }: { storage: Storage; calls: Pick<Calls, 'start'> }): CallRecords {
  const note = (userId: string, callId: string, set: Partial<CallRow>) =>
    storage.transaction({ userId }, (tx) => tx.update('calls', callId, { set })).catch(() => undefined)

  const follow = ({ userId, callId }: CallRow, running: RunningCall): Recorded => {
    void running.pending.then(({ id }) => note(userId, callId, { status: 'pending', approvalId: id }))
    void running.outcome.then((outcome) =>
      note(userId, callId, { status: outcome.status, outcomeJson: jsonOf(outcome), finishedAt: new Date() }),
    )
    return { callId, running }
  }
  return {
    async start(request, { idempotencyKey } = {}) {
      const row = await newRow(request, idempotencyKey)
      try {
        await storage.transaction({ userId: request.userId }, (tx) => tx.insert('calls', row))
        return follow(row, calls.start({ ...request, callId: row.callId }))
      } catch (error) {
        if (idempotencyKey === undefined || !HostError.is(error) || error.code !== 'conflict') throw error
        const before = await findByKey(storage, request.userId, idempotencyKey)
        if (before.requestHash !== row.requestHash) throw otherQuestion()
        return { callId: before.callId, row: before }
      }
    },
    async adopt(request, running) {
      const { callId } = running
      const row = { ...(await newRow(request, undefined)), callId, dedupeKey: callId }
      await storage.transaction({ userId: request.userId }, (tx) => tx.insert('calls', row))
      follow(row, running)
    },
    async get(userId, callId) {
      const row = await storage.transaction({ userId }, (tx) => tx.get('calls', callId))
      if (!row) throw new HostError('not-found', { detail: 'There is no such call of yours.' })
      return row
    },
  }
}

async function newRow(request: CallRequest, key: string | undefined): Promise<CallRow> {
  const { userId, threadId = null, runId = null, toolkit, tool, arguments: args } = request
  const callId = newId('call')
  const now = Date.now()
  return {
    callId,
    userId,
    threadId,
    runId,
    ref: `${toolkit}.${tool}`,
    dedupeKey: key ?? callId,
    requestHash: await hashOf(canonicalJson([toolkit, tool, threadId, args])),
    status: 'running',
    outcomeJson: null,
    approvalId: null,
    createdAt: new Date(now),
    finishedAt: null,
    expiresAt: new Date(now + KEEP_MS),
  }
}

async function findByKey(storage: Storage, userId: string, dedupeKey: string): Promise<CallRow> {
  const [row] = await storage.transaction({ userId }, (tx) => tx.list('calls', { where: { userId, dedupeKey } }))
  if (!row) throw new HostError('conflict', { detail: 'The call of this idempotency key is gone.' })
  return row
}

const otherQuestion = () =>
  new HostError('conflict', {
    detail: 'The idempotency key was used for another call.',
    action: 'Use a new key for a new call.',
    errors: [{ path: 'Idempotency-Key', message: 'was used for another call' }],
  })

/** An outcome as it is kept and sent. */
export function jsonOf(outcome: CallOutcome): JsonObject {
  if ('error' in outcome) {
    const { code, message: detail, action, errors } = outcome.error
    return { status: outcome.status, error: { code, detail, action, ...(errors ? { errors } : {}) } }
  }
  const kept = { ...outcome } as JsonObject
  if (JSON.stringify(kept).length <= MOST_CHARACTERS) return kept
  return { status: outcome.status, content: [{ type: 'text', text: 'The result was too large to be kept.' }] }
}

async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
