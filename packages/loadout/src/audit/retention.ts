/**
 * Removes data from the log. Erasing a user keeps their rows as empty links of the chain. Pruning deletes rows older
 * than the retention period and moves the anchor. The anchor moves before the rows are deleted, so that an interruption
 * leaves a valid chain.
 */

import { APP_OWNER } from '../schema/ids.ts'
import type { AuditRow } from '../schema/records/audit.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { auditIdOf, type ChainEnd, erasedRow, GENESIS, seqOf } from './chain.ts'

const PAGE = 500
const PRUNE_PAGE = 5000
const caller = 'audit-shipping'
const ACCESS = { caller, userId: APP_OWNER } as const

/** Erases a user. Returns the number of changed rows. */
export async function eraseUser(storage: Storage, userId: string): Promise<number> {
  if (userId === APP_OWNER) return 0
  await touchHead(storage)
  for (let erased = 0; ; ) {
    const count = await storage.transaction({ caller, userId }, async (tx) => {
      const rows = await tx.list('audit', { where: { userId }, limit: PAGE })
      for (const row of rows) await tx.delete('audit', row.auditId)
      await tx.insertAll('audit', rows.map(erasedRow))
      return rows.length
    })
    erased += count
    if (count < PAGE) return erased
  }
}

/** Updates the head to wait for a running shipment; later shipments see the removal note. */
async function touchHead(storage: Storage): Promise<void> {
  const updatedAt = new Date()
  await storage.transaction(ACCESS, (tx) => tx.update('auditHeads', 'head', { set: { updatedAt } }))
}

/** Deletes rows older than a date. Returns their number. */
export async function pruneBefore(storage: Storage, olderThan: Date): Promise<number> {
  const { anchor, head } = await chainEnds(storage)
  const [first] = await storage.transaction(ACCESS, (tx) =>
    tx.list('audit', { between: { field: 'at', from: olderThan }, after: auditIdOf(anchor.seq), limit: 1 }),
  )
  return pruneTo(storage, first ? seqOf(first.auditId) - 1 : head.seq)
}

/** Deletes the rows up to a sequence number. */
export async function pruneTo(storage: Storage, seq: number): Promise<number> {
  const { anchor } = await chainEnds(storage)
  if (seq > anchor.seq) await storage.transaction(ACCESS, (tx) => moveAnchor(tx, seq))
  const last = auditIdOf(Math.max(seq, anchor.seq))
  for (let pruned = 0; ; ) {
    const page = await storage.transaction(ACCESS, (tx) => tx.list('audit', { limit: PRUNE_PAGE }))
    const rows = page.filter((row) => row.auditId <= last)
    for (const [userId, userRows] of Map.groupBy(rows, (row) => row.userId)) await deleteRows(storage, userId, userRows)
    pruned += rows.length
    if (rows.length < PRUNE_PAGE) return pruned
  }
}

async function moveAnchor(tx: Transaction, seq: number): Promise<void> {
  const [row] = await tx.list('audit', { where: { auditId: auditIdOf(seq) }, limit: 1 })
  const anchor = await tx.get('auditHeads', 'anchor')
  if (!row || (anchor && anchor.seq >= seq)) return
  const set = { seq, hash: row.hash, updatedAt: new Date() }
  if (anchor) await tx.update('auditHeads', 'anchor', { set, where: { seq: anchor.seq } })
  else await tx.insert('auditHeads', { headId: 'anchor', ...set })
}

async function deleteRows(storage: Storage, userId: string, rows: readonly AuditRow[]): Promise<void> {
  await storage.transaction({ caller, userId }, async (tx) => {
    for (const row of rows) await tx.delete('audit', row.auditId)
  })
}

/** The anchor and the head of the chain. */
export function chainEnds(storage: Storage): Promise<{ anchor: ChainEnd; head: ChainEnd }> {
  return storage.transaction({ caller: 'audit-reading', userId: APP_OWNER }, async (tx) => {
    const head = (await tx.get('auditHeads', 'head')) ?? GENESIS
    const anchor = (await tx.get('auditHeads', 'anchor')) ?? GENESIS
    return { anchor, head }
  })
}

/** Rows between two ends, in chain order. */
export async function* chainBetween(storage: Storage, from: ChainEnd, to: ChainEnd): AsyncGenerator<AuditRow> {
  for (let after = auditIdOf(from.seq); ; ) {
    const page = await storage.transaction({ caller: 'audit-reading' }, (tx) =>
      tx.list('audit', { after, limit: PAGE * 2 }),
    )
    for (const row of page) {
      // Rows added after the head was read are not verified.
      if (row.auditId > auditIdOf(to.seq)) return
      yield row
    }
    const last = page.at(-1)
    if (!last) return
    after = last.auditId
  }
}
