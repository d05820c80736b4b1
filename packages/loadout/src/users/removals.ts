/**
 * Users who went, as a note that outlives them: a hash of who, and when. What their calls and processes still write of the
 * time before is on its way, in journals of this process, of others, or of dead ones; as it comes to the log it is stored
 * without the person. Who comes later under the same id is somebody else.
 */

import { type Sha256, webSha256 } from '../audit/chain.ts'
import { APP_OWNER, idCreatedAt } from '../schema/ids.ts'
import type { AuditRow } from '../schema/records/audit.ts'
import type { RemovedUserRow } from '../schema/records/bookkeeping.ts'
import type { Storage, Transaction } from '../storage/storage.ts'

const ACCESS = { caller: 'audit-shipping', userId: APP_OWNER } as const
const LIST_LIMIT = 100_000
/** Clocks of processes differ a little. */
const SLACK_MS = 1000
/** A note that was made before may be seen after one that was made later. */
const OVERLAP_MS = 60_000

/** Who went, where nothing but the id itself leads to it. */
export const removalIdOf = (userId: string, sha256: Sha256 = webSha256): Promise<string> =>
  Promise.resolve(sha256(`loadout removed user\n${userId}`))

/** From here on nothing of the time before is written with this user. */
export async function noteRemoval(storage: Storage, userId: string): Promise<void> {
  const removalId = await removalIdOf(userId)
  const removedAt = new Date()
  await storage.transaction(ACCESS, async (tx) => {
    const updated = await tx.update('removedUsers', removalId, { set: { removedAt } })
    if (!updated) await tx.insert('removedUsers', { removalId, removedAt })
  })
}

/** Where there was nothing of them, nobody went. */
export async function undoRemoval(storage: Storage, userId: string): Promise<void> {
  const removalId = await removalIdOf(userId)
  await storage.transaction(ACCESS, (tx) => tx.delete('removedUsers', removalId))
}

/** The notes since a time, or all. */
export function removalsSince(tx: Transaction, from?: Date): Promise<RemovedUserRow[]> {
  return tx.list('removedUsers', { limit: LIST_LIMIT, ...(from ? { between: { field: 'removedAt', from } } : {}) })
}

/** Lines of the log, and whose they may not be any more. */
export class RemovedInLog {
  readonly #removedAt = new Map<string, number>()
  readonly #sha256: Sha256
  #refreshedAt: number | undefined

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** What users are called in the notes: worked out before the transaction that looks. */
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

  /** Whether it tells of somebody who went: of a call, by when that began. */
  has({ userId, callId, at }: AuditRow, names: ReadonlyMap<string, string>): boolean {
    const removedAt = this.#removedAt.get(names.get(userId) ?? '')
    if (removedAt === undefined) return false
    const began = (callId === null ? undefined : idCreatedAt(callId)) ?? at.getTime()
    return began <= removedAt + SLACK_MS
  }
}
