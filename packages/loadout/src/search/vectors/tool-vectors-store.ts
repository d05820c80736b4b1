/**
 * Stores tool vectors, so that a restart embeds nothing again. Keyed by a fingerprint of the embedded text, which is
 * not stored. Vectors of app tools are shared; those of user tools belong to the user.
 */

import { APP_OWNER } from '../../schema/ids.ts'
import type { ToolVectorRow } from '../../schema/toolkit/search.ts'
import type { Access, Storage, Transaction } from '../../storage/storage.ts'
import { sha256Hex } from '../../util/hash.ts'
import { fromText, toText, type Vector } from './embedder.ts'

export interface VectorStore {
  read(owner: string, fingerprints: readonly string[]): Promise<Map<string, Vector>>
  write(owner: string, vectors: ReadonlyMap<string, Vector>): Promise<void>
}

/** User servers may offer any number of tools; beyond this limit vectors are not stored. */
const MAX_OF_USER = 5000
const PAGE = 1000
/** Interval between updates of a row's last-used time. */
const TOUCH_MS = 7 * 86_400_000

export function createVectorStore(storage: Storage, embedder: string): VectorStore {
  const idOf = async (fingerprint: string) => `tvec_${await sha256Hex(`${embedder}\n${fingerprint}`)}`
  return {
    async read(owner, fingerprints) {
      const ids = await Promise.all(fingerprints.map(idOf))
      return storage.transaction(accessTo(owner), async (tx) => {
        const found = new Map<string, Vector>()
        for (const id of ids) {
          const row = await tx.get('toolVectors', id)
          const vector = row && row.embedder === embedder ? fromText(row.vector) : undefined
          if (!row || !vector) continue
          found.set(row.fingerprint, vector)
          await touch(tx, owner, row)
        }
        return found
      })
    },
    async write(owner, vectors) {
      const now = new Date()
      const rows: ToolVectorRow[] = await Promise.all(
        [...vectors].map(async ([fingerprint, vector]) => ({
          toolVectorId: await idOf(fingerprint),
          userId: owner,
          embedder,
          fingerprint,
          vector: toText(vector),
          createdAt: now,
          usedAt: now,
        })),
      )
      await storage.transaction(accessTo(owner), async (tx) => {
        if (owner !== APP_OWNER && !(await hasRoom(tx, owner, rows.length))) return
        const fresh: ToolVectorRow[] = []
        for (const row of rows) if (!(await tx.get('toolVectors', row.toolVectorId))) fresh.push(row)
        await tx.insertAll('toolVectors', fresh)
      })
    },
  }
}

const accessTo = (owner: string): Access =>
  owner === APP_OWNER ? { caller: 'embedding', userId: APP_OWNER } : { userId: owner }

async function touch(tx: Transaction, owner: string, row: ToolVectorRow): Promise<void> {
  const now = new Date()
  if (row.userId === owner && now.getTime() - row.usedAt.getTime() > TOUCH_MS)
    await tx.update('toolVectors', row.toolVectorId, { set: { usedAt: now } })
}

async function hasRoom(tx: Transaction, userId: string, more: number): Promise<boolean> {
  let count = more
  for (let after: string | undefined; count <= MAX_OF_USER; ) {
    const page = { where: { userId }, limit: PAGE, ...(after === undefined ? {} : { after }) }
    const rows = await tx.list('toolVectors', page)
    count += rows.length
    if (rows.length < PAGE) break
    after = rows.at(-1)?.toolVectorId
  }
  return count <= MAX_OF_USER
}
