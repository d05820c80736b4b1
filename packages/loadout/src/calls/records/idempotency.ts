/** Creates call rows and reserves idempotency keys: one key is one call, also for concurrent requests. */
import { HostError } from '../../errors.ts'
import { newId } from '../../schema/ids.ts'
import { canonicalJson } from '../../schema/json.ts'
import type { CallRow } from '../../schema/records/call.ts'
import type { Storage, Transaction } from '../../storage/storage.ts'
import { sha256Hex } from '../../util/hash.ts'
import type { CallRequest } from '../calls.ts'
import { settleOrphaned, wasNeverMade } from './orphaned-calls.ts'

const KEEP_MS = 24 * 3_600_000
const MAX_TRIES = 10
const KEY_HEADER = 'Idempotency-Key'

export function newCallRow(
  { userId, threadId, runId, toolkit, tool }: CallRequest,
  { callId = newId('call'), processId }: { callId?: string; processId: string },
): CallRow {
  const now = Date.now()
  return {
    callId,
    userId,
    threadId: threadId ?? null,
    runId: runId ?? null,
    ref: `${toolkit}.${tool}`,
    dedupeKey: callId,
    requestHash: '',
    status: 'running',
    outcomeJson: null,
    approvalId: null,
    processId,
    createdAt: new Date(now),
    finishedAt: null,
    expiresAt: new Date(now + KEEP_MS),
  }
}

/** Adds the key and a hash of the request to a row. */
export async function withIdempotencyKey(
  row: CallRow,
  key: string | undefined,
  request: CallRequest,
): Promise<CallRow> {
  if (key === undefined) return row
  const { toolkit, tool, threadId, arguments: args, rules } = request
  const requestText = canonicalJson([toolkit, tool, threadId ?? null, args, rules ?? []])
  return { ...row, dedupeKey: key, requestHash: await sha256Hex(requestText) }
}

/** Stores the row, or returns the row that already has the key. */
export async function reserveKey(storage: Storage, row: CallRow): Promise<CallRow | undefined> {
  for (let tries = 0; ; tries++)
    try {
      return await storage.transaction({ userId: row.userId }, async (tx) => {
        const existing = row.dedupeKey === row.callId ? undefined : await findByKey(tx, row)
        const before = existing && (await settleOrphaned(tx, existing, row.processId))
        if (before && !isFree(before)) return assertSameRequest(before, row)
        if (before) await tx.update('calls', before.callId, { set: { dedupeKey: before.callId } })
        await tx.insert('calls', row)
        return undefined
      })
    } catch (error) {
      // A concurrent request with the same key was first; read its row.
      if (tries === MAX_TRIES || !isTaken(error)) throw error
    }
}

const isFree = (row: CallRow) => row.expiresAt <= new Date() || wasNeverMade(row)

const isTaken = (error: unknown) =>
  HostError.is(error) && error.code === 'conflict' && error.errors?.[0]?.path !== KEY_HEADER

async function findByKey(tx: Transaction, { userId, dedupeKey }: CallRow): Promise<CallRow | undefined> {
  const [row] = await tx.list('calls', { where: { userId, dedupeKey } })
  return row
}

function assertSameRequest(before: CallRow, row: CallRow): CallRow {
  if (before.requestHash === row.requestHash) return before
  throw new HostError('conflict', {
    detail: 'The idempotency key was used for another call.',
    action: 'Use a new key for a new call.',
    errors: [{ path: KEY_HEADER, message: 'was used for another call' }],
  })
}
