/** Secrets at rest: sealed on the way in, opened on the way out, never anywhere else. */

import { APP_OWNER, newId } from '../schema/ids.ts'
import type { CredentialAddress, Envelope } from '../schema/records/credential.ts'
import type { Access, Storage, Transaction } from '../storage/storage.ts'
import { checkKeyRing } from './check-key-ring.ts'
import { open, seal } from './envelope.ts'
import type { KeyRing } from './key-ring.ts'
import { type EncryptedCollection, encryptedCredentials, rotateAll } from './rotation.ts'

/** One toolkit's secrets of one owner. */
export interface SecretOwner {
  userId: string
  toolkit: string
}

export interface CredentialStore {
  /** Stores or replaces, inside the caller's transaction. */
  save(tx: Transaction, owner: SecretOwner, secrets: Record<string, string>): Promise<void>
  /** Removes the named fields, or all. */
  clear(tx: Transaction, owner: SecretOwner, fields?: readonly string[]): Promise<void>
  /** Which fields are stored. Names only. */
  fields(tx: Transaction, owner: SecretOwner): Promise<string[]>
  /** The named ones, inside the caller's transaction, without those that cannot be opened. */
  read(tx: Transaction, owner: SecretOwner, fields: readonly string[]): Promise<Record<string, string>>
  /** A text that is kept elsewhere, bound to its address; and that text again. */
  seal(address: CredentialAddress, text: string): Promise<Envelope>
  unseal(address: CredentialAddress, envelope: Envelope): Promise<string>
  /** The secrets themselves, for a connection: all of them, or the named fields. */
  open(owner: SecretOwner, fields?: readonly string[]): Promise<Record<string, string>>
  /** Rewraps all that is sealed under the current key while reads go on; says how much it changed, and how much it cannot. */
  rotate(): Promise<{ rewrapped: number; lost: number }>
  /** Throws `credential-key-lost` where what is stored is sealed with a key that the ring lacks, unless that one is given up. */
  check(lostKeys?: readonly string[]): Promise<void>
}

export interface CredentialDeps {
  storage: Storage
  keyRing: KeyRing
  /** Where else something is kept that this store sealed. */
  sealed?: readonly EncryptedCollection[]
}

export function createCredentialStore({ storage, keyRing, sealed = [] }: CredentialDeps): CredentialStore {
  const rowsOf = (tx: Transaction, { userId, toolkit }: SecretOwner) =>
    tx.list('credentials', { where: { userId, toolkit } })

  return {
    async save(tx, { userId, toolkit }, secrets) {
      const existing = new Map((await rowsOf(tx, { userId, toolkit })).map((row) => [row.field, row]))
      for (const [field, secret] of Object.entries(secrets)) {
        const envelope = await seal(keyRing, { userId, toolkit, field }, secret)
        const row = existing.get(field)
        const now = new Date()
        if (row) await tx.update('credentials', row.credentialId, { set: { ...envelope, updatedAt: now } })
        else
          await tx.insert('credentials', {
            credentialId: newId('credential'),
            userId,
            toolkit,
            field,
            ...envelope,
            createdAt: now,
            updatedAt: now,
          })
      }
    },

    async clear(tx, owner, fields) {
      for (const row of await rowsOf(tx, owner))
        if (fields === undefined || fields.includes(row.field)) await tx.delete('credentials', row.credentialId)
    },

    async fields(tx, owner) {
      return (await rowsOf(tx, owner)).map((row) => row.field)
    },

    async read(tx, owner, fields) {
      const rows = (await rowsOf(tx, owner)).filter((row) => fields.includes(row.field))
      const opened = await Promise.allSettled(rows.map((row) => open(keyRing, row, row)))
      const found = opened.map((result, index) => [rows[index]?.field ?? '', result] as const)
      return Object.fromEntries(
        found.flatMap(([field, result]) => (result.status === 'fulfilled' ? [[field, result.value]] : [])),
      )
    },

    seal: (address, text) => seal(keyRing, address, text),
    unseal: (address, envelope) => open(keyRing, address, envelope),
    check: (lostKeys) => checkKeyRing({ storage, keyRing }, lostKeys),

    async open(owner, fields) {
      const stored = await storage.transaction(accessTo(owner), (tx) => rowsOf(tx, owner))
      const rows = fields ? stored.filter((row) => fields.includes(row.field)) : stored
      const opened = await Promise.all(rows.map(async (row) => [row.field, await open(keyRing, row, row)] as const))
      return Object.fromEntries(opened)
    },

    rotate: () => rotateAll({ storage, keyRing }, [encryptedCredentials, ...sealed]),
  }
}

function accessTo({ userId }: SecretOwner): Access {
  return userId === APP_OWNER ? { caller: 'app-credentials', userId } : { userId }
}
