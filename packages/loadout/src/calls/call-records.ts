/**
 * Calls that may be asked for later, or again with the same idempotency key, in any process: one row each. A call without
 * either leaves only its audit, so that it does not pay for this. A row names the process that makes the call; with that one
 * gone, whoever asks is told so (`gone-calls.ts`).
 */
import { HostError } from '../errors.ts'
import type { Presence } from '../policy/presence.ts'
import type { CallRow } from '../schema/call.ts'
import { newId } from '../schema/ids.ts'
import { canonicalJson } from '../schema/json.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import type { CallOutcome } from './call.ts'
import type { CallRequest, Calls, RunningCall } from './calls.ts'
import { settleGone, wasNeverMade } from './gone-calls.ts'
import { jsonOf, notKept } from './outcome-json.ts'

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

export interface RunningRecords extends CallRecords {
  /** To be called before anything else is closed: what the close itself ends is not what came of a call. */
  close(): Promise<void>
}

export interface RecordParts {
  storage: Storage
  calls: Pick<Calls, 'start'>
  presence: Presence
}

const KEEP_MS = 24 * 3_600_000
const CLOSE_MS = 2000
const FIRST_WAIT_MS = 250
const LAST_WAIT_MS = 60_000
const TRIES = 10

export function createCallRecords({ storage, calls, presence }: RecordParts): RunningRecords {
  const open = new Set<Promise<void>>()
  const closing = new AbortController()
  const { processId } = presence

  const follow = (row: CallRow, { running, letGo }: { running: RunningCall; letGo(): void }): Recorded => {
    const { callId } = row
    void running.pending.then(({ id }) => notePending(storage, row, id)).catch(() => {})
    const noted = running.outcome
      .then((outcome) => noteOutcome(storage, row, { outcome, closing: closing.signal }))
      .finally(() => {
        open.delete(noted)
        letGo()
      })
    open.add(noted)
    return { callId, running }
  }
  return {
    async start(request, { idempotencyKey } = {}) {
      const row = await newRow(request, { key: idempotencyKey, processId })
      const letGo = await presence.hold()
      try {
        const before = await claim(storage, row)
        if (!before) return follow(row, { running: calls.start({ ...request, callId: row.callId }), letGo })
        letGo()
        return { callId: before.callId, row: before }
      } catch (error) {
        letGo()
        throw error
      }
    },
    async adopt(request, running) {
      const { callId } = running
      const row = { ...(await newRow(request, { processId })), callId, dedupeKey: callId }
      const letGo = await presence.hold()
      try {
        await storage.transaction({ userId: request.userId }, (tx) => tx.insert('calls', row))
      } catch (error) {
        letGo()
        throw error
      }
      follow(row, { running, letGo })
    },
    async get(userId, callId) {
      return storage.transaction({ userId }, async (tx) => {
        const row = await tx.get('calls', callId)
        if (!row) throw new HostError('not-found', { detail: 'There is no such call of yours.' })
        return settleGone(tx, row, processId)
      })
    },
    async close() {
      closing.abort()
      const stop = Promise.withResolvers<void>()
      const timer = setTimeout(stop.resolve, CLOSE_MS)
      await Promise.race([Promise.allSettled([...open]), stop.promise])
      clearTimeout(timer)
    },
  }
}

/** Stores the row; or gives the one that has its key, where that is not free. */
async function claim(storage: Storage, row: CallRow): Promise<CallRow | undefined> {
  for (let tries = 0; ; tries++)
    try {
      return await storage.transaction({ userId: row.userId }, async (tx) => {
        const known = row.dedupeKey === row.callId ? undefined : await findByKey(tx, row)
        const before = known && (await settleGone(tx, known, row.processId))
        if (before && !isFree(before)) return sameQuestion(before, row)
        if (before) await tx.update('calls', before.callId, { set: { dedupeKey: before.callId } })
        await tx.insert('calls', row)
        return undefined
      })
    } catch (error) {
      // Another with the same key came between: it is there now.
      if (tries === TRIES || !isTaken(error)) throw error
    }
}

const isFree = (row: CallRow) => row.expiresAt <= new Date() || wasNeverMade(row)

const isTaken = (error: unknown) =>
  HostError.is(error) && error.code === 'conflict' && error.errors?.[0]?.path !== KEY_HEADER

function notePending(storage: Storage, { userId, callId }: CallRow, approvalId: string) {
  const change = { set: { status: 'pending' as const, approvalId }, where: { finishedAt: null } }
  return storage.transaction({ userId }, (tx) => tx.update('calls', callId, change))
}

/** Writes what came of it, as soon as it can be written. */
async function noteOutcome(
  storage: Storage,
  { userId, callId }: CallRow,
  { outcome, closing }: { outcome: CallOutcome; closing: AbortSignal },
): Promise<void> {
  // Nobody answered because we close: whoever asks is told that it was never made.
  if (closing.aborted && 'error' in outcome && outcome.error.code === 'approval-expired') return
  let outcomeJson = jsonOf(outcome)
  for (let wait = FIRST_WAIT_MS; wait <= LAST_WAIT_MS; wait *= 2) {
    const set = { status: outcome.status, outcomeJson, finishedAt: new Date() }
    try {
      await storage.transaction({ userId }, (tx) => tx.update('calls', callId, { set }))
      return
    } catch (error) {
      if (closing.aborted) return
      if (HostError.is(error) && error.code === 'invalid-row')
        outcomeJson = notKept(outcome.status, 'The result could not be kept.')
      else await pause(wait)
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: { unref?: () => void } | number = setTimeout(resolve, ms)
    if (typeof timer === 'object') timer.unref?.()
  })
}

async function newRow(
  request: CallRequest,
  { key, processId }: { key?: string | undefined; processId: string },
): Promise<CallRow> {
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
    processId,
    createdAt: new Date(now),
    finishedAt: null,
    expiresAt: new Date(now + KEEP_MS),
  }
}

async function findByKey(tx: Transaction, { userId, dedupeKey }: CallRow): Promise<CallRow | undefined> {
  const [row] = await tx.list('calls', { where: { userId, dedupeKey } })
  return row
}

const KEY_HEADER = 'Idempotency-Key'

function sameQuestion(before: CallRow, row: CallRow): CallRow {
  if (before.requestHash === row.requestHash) return before
  throw new HostError('conflict', {
    detail: 'The idempotency key was used for another call.',
    action: 'Use a new key for a new call.',
    errors: [{ path: KEY_HEADER, message: 'was used for another call' }],
  })
}

async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
