/**
 * What leaves the log. A person who goes: their lines stay as links of the chain, with nothing in them. What is older than
 * the operator keeps: a beginning of the chain goes, and an anchor says where it now begins. The anchor is set before the
 * rows are deleted, so that who stops in between leaves a chain that holds.
 */

import { APP_OWNER } from '../schema/ids.ts'
import type { AuditRow } from '../schema/records/audit.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { auditIdOf, type ChainEnd, erasedRow, GENESIS, seqOf } from './chain.ts'

const PAGE = 500
const PRUNE_PAGE = 5000
const caller = 'audit-shipping'
const ACCESS = { caller, userId: APP_OWNER } as const

/** How many lines lost their person. */
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

/** What is being shipped now is stored after this; what is shipped later finds the note of who went. */
async function touchHead(storage: Storage): Promise<void> {
  const updatedAt = new Date()
  await storage.transaction(ACCESS, (tx) => tx.update('auditHeads', 'head', { set: { updatedAt } }))
}

/** How many lines went. */
export async function pruneBefore(storage: Storage, olderThan: Date): Promise<number> {
  const { anchor, head } = await chainEnds(storage)
  const [first] = await storage.transaction(ACCESS, (tx) =>
    tx.list('audit', { between: { field: 'at', from: olderThan }, after: auditIdOf(anchor.seq), limit: 1 }),
  )
  return pruneTo(storage, first ? seqOf(first.auditId) - 1 : head.seq)
}

/** Takes away the lines up to this place. */
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

/** Where the chain begins and ends. */
export function chainEnds(storage: Storage): Promise<{ anchor: ChainEnd; head: ChainEnd }> {
  return storage.transaction({ caller: 'audit-reading', userId: APP_OWNER }, async (tx) => {
    const head = (await tx.get('auditHeads', 'head')) ?? GENESIS
    const anchor = (await tx.get('auditHeads', 'anchor')) ?? GENESIS
    return { anchor, head }
  })
}

/** The rows after one place up to another, in the order of the chain. */
export async function* chainBetween(storage: Storage, from: ChainEnd, to: ChainEnd): AsyncGenerator<AuditRow> {
  for (let after = auditIdOf(from.seq); ; ) {
    const page = await storage.transaction({ caller: 'audit-reading' }, (tx) =>
      tx.list('audit', { after, limit: PAGE * 2 }),
    )
    for (const row of page) {
      // What was added since the end was read is not looked at.
      if (row.auditId > auditIdOf(to.seq)) return
      yield row
    }
    const last = page.at(-1)
    if (!last) return
    after = last.auditId
  }
}
