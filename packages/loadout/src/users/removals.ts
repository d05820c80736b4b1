/**
 * Notes about removed users that outlive them: a hash of the user ID and a time. Entries from before the removal may
 * still wait in journals of any process; the shipper stores them without the user. A later user with the same ID is not
 * affected.
 */

import { type Sha256, webSha256 } from '../audit/chain.ts'
import { APP_OWNER, idCreatedAt } from '../schema/ids.ts'
import type { AuditRow } from '../schema/records/audit.ts'
import type { RemovedUserRow } from '../schema/records/bookkeeping.ts'
import type { Storage, Transaction } from '../storage/storage.ts'

const ACCESS = { caller: 'audit-shipping', userId: APP_OWNER } as const
const LIST_LIMIT = 100_000
/** Tolerance in ms for clock differences between processes. */
const SLACK_MS = 1000
/** Notes may become visible out of order within this time, in ms. */
const OVERLAP_MS = 60_000

/** Hash of a user ID: the note does not reveal the ID. */
export const removalIdOf = (userId: string, sha256: Sha256 = webSha256): Promise<string> =>
  Promise.resolve(sha256(`loadout removed user\n${userId}`))

/** Stores the note: from now on, no earlier entry is written with this user. */
export async function noteRemoval(storage: Storage, userId: string): Promise<void> {
  const removalId = await removalIdOf(userId)
  const removedAt = new Date()
  await storage.transaction(ACCESS, async (tx) => {
    const updated = await tx.update('removedUsers', removalId, { set: { removedAt } })
    if (!updated) await tx.insert('removedUsers', { removalId, removedAt })
  })
}

/** Deletes the note of a user who had no data. */
export async function undoRemoval(storage: Storage, userId: string): Promise<void> {
  const removalId = await removalIdOf(userId)
  await storage.transaction(ACCESS, (tx) => tx.delete('removedUsers', removalId))
}

/** Notes since a time, or all. */
export function removalsSince(tx: Transaction, from?: Date): Promise<RemovedUserRow[]> {
  return tx.list('removedUsers', { limit: LIST_LIMIT, ...(from ? { between: { field: 'removedAt', from } } : {}) })
}

/** Decides which log rows must be stored without their user. */
export class RemovedInLog {
  readonly #removedAt = new Map<string, number>()
  readonly #sha256: Sha256
  #refreshedAt: number | undefined

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** Hashes the users of the rows. Runs before the transaction, because hashing is asynchronous. */
  async namesOf(rows: ReadonlyArray<Pick<AuditRow, 'userId'>>): Promise<ReadonlyMap<string, string>> {
    const users = [...new Set(rows.map((row) => row.userId))].filter((userId) => userId !== APP_OWNER)
    return new Map(await Promise.all(users.map(async (user) => [user, await removalIdOf(user, this.#sha256)] as const)))
  }

  async refresh(tx: Transaction): Promise<void> {
    const now = Date.now()
    const from = this.#refreshedAt === undefined ? undefined : new Date(this.#refreshedAt - OVERLAP_MS)
    for (const { removalId, removedAt } of await removalsSince(tx, from))
      this.#removedAt.set(removalId, removedAt.getTime())
    this.#refreshedAt = now
  }

  /** Whether the row belongs to a removed user. The start time of the call counts, if there is one. */
  has({ userId, callId, at }: AuditRow, names: ReadonlyMap<string, string>): boolean {
    const removedAt = this.#removedAt.get(names.get(userId) ?? '')
    if (removedAt === undefined) return false
    const began = (callId === null ? undefined : idCreatedAt(callId)) ?? at.getTime()
    return began <= removedAt + SLACK_MS
  }
}
