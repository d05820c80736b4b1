/**
 * Rewraps all encrypted data with the current key, page by page, while reads and writes continue. Only the data key is
 * wrapped again. Rows that change meanwhile are skipped, because the writer used the current key.
 */
import { HostError } from '../errors.ts'
import type { CredentialAddress, Envelope } from '../schema/records/credential.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { rewrap } from './envelope.ts'
import type { KeyRing } from './key-ring.ts'

export interface SealedRow {
  id: string
  userId: string
  /** Undefined if the row has no encrypted data. */
  sealed?: { address: CredentialAddress; envelope: Envelope } | undefined
  /** Writes the new wrapping if the row is unchanged. */
  write(tx: Transaction, wrapping: Wrapping): Promise<boolean>
}

type Wrapping = Pick<Envelope, 'keyId' | 'wrappedKey'>

/** Lists rows with encrypted data after an ID, in order. */
export type EncryptedCollection = (tx: Transaction, page: { limit: number; after?: string }) => Promise<SealedRow[]>

const PAGE = 500

export const encryptedCredentials: EncryptedCollection = async (tx, page) =>
  (await tx.list('credentials', page)).map((row) => ({
    id: row.credentialId,
    userId: row.userId,
    sealed: { address: row, envelope: row },
    write: async (writing, set) =>
      (await writing.update('credentials', row.credentialId, { set, where: { wrappedKey: row.wrappedKey } })) !==
      undefined,
  }))

export interface Rotated {
  rewrapped: number
  lost: number
}

interface RotationDeps {
  storage: Storage
  keyRing: KeyRing
}

export async function rotateAll(deps: RotationDeps, collections: readonly EncryptedCollection[]): Promise<Rotated> {
  const count = { rewrapped: 0, lost: 0 }
  for (const collection of collections) {
    const { rewrapped, lost } = await rotateCollection(deps, collection)
    count.rewrapped += rewrapped
    count.lost += lost
  }
  return count
}

async function rotateCollection(deps: RotationDeps, collection: EncryptedCollection): Promise<Rotated> {
  const current = await deps.keyRing.currentKeyId()
  const count = { rewrapped: 0, lost: 0 }
  for (let after: string | undefined; ; ) {
    const page = await deps.storage.transaction({ caller: 'key-rotation' }, (tx) =>
      collection(tx, { limit: PAGE, ...(after === undefined ? {} : { after }) }),
    )
    const last = page.at(-1)
    if (!last) return count
    after = last.id
    const old = page.filter(({ sealed }) => sealed !== undefined && sealed.envelope.keyId !== current)
    for (const [userId, rows] of Map.groupBy(old, (row) => row.userId)) {
      const { rewrapped, lost } = await rotateRows(deps, userId, rows)
      count.rewrapped += rewrapped
      count.lost += lost
    }
  }
}

async function rotateRows({ storage, keyRing }: RotationDeps, userId: string, rows: SealedRow[]): Promise<Rotated> {
  const fresh = await Promise.all(rows.map(async (row) => ({ row, wrapping: await rewrapOrSkip(keyRing, row) })))
  const rewrapped = await storage.transaction({ caller: 'key-rotation', userId }, async (tx) => {
    let changed = 0
    for (const { row, wrapping } of fresh) if (wrapping && (await row.write(tx, wrapping))) changed++
    return changed
  })
  return { rewrapped, lost: fresh.filter(({ wrapping }) => !wrapping).length }
}

async function rewrapOrSkip(ring: KeyRing, { sealed }: SealedRow): Promise<Wrapping | undefined> {
  if (!sealed) return undefined
  try {
    return await rewrap(ring, sealed.address, sealed.envelope)
  } catch (error) {
    if (HostError.is(error) && (error.code === 'credential-key-lost' || error.code === 'credential-unreadable'))
      return undefined
    throw error
  }
}
