/** Encrypts secrets at rest. They are decrypted only here, when they are read. */

import { APP_OWNER, newId } from '../schema/ids.ts'
import type { CredentialAddress, Envelope } from '../schema/records/credential.ts'
import type { Access, Storage, Transaction } from '../storage/storage.ts'
import { checkKeyRing } from './check-key-ring.ts'
import { open, seal } from './envelope.ts'
import type { KeyRing } from './key-ring.ts'
import { type EncryptedCollection, encryptedCredentials, rotateAll } from './rotation.ts'

/** Owner and toolkit of a set of secrets. */
export interface SecretOwner {
  userId: string
  toolkit: string
}

export interface CredentialStore {
  /** Stores or replaces secrets in the caller's transaction. */
  save(tx: Transaction, owner: SecretOwner, secrets: Record<string, string>): Promise<void>
  /** Removes the named fields, or all. */
  clear(tx: Transaction, owner: SecretOwner, fields?: readonly string[]): Promise<void>
  /** Names of the stored fields. */
  fields(tx: Transaction, owner: SecretOwner): Promise<string[]>
  /** Reads the named fields in the caller's transaction and omits unreadable ones. */
  read(tx: Transaction, owner: SecretOwner, fields: readonly string[]): Promise<Record<string, string>>
  /** Encrypts a text that is stored elsewhere, bound to its address; `unseal` decrypts it. */
  seal(address: CredentialAddress, text: string): Promise<Envelope>
  unseal(address: CredentialAddress, envelope: Envelope): Promise<string>
  /** Decrypts all secrets, or the named fields, for a connection. */
  open(owner: SecretOwner, fields?: readonly string[]): Promise<Record<string, string>>
  /**
   * Rewraps all encrypted data with the current key while reads continue. Returns how many rows changed and how many
   * are unreadable.
   */
  rotate(): Promise<{ rewrapped: number; lost: number }>
  /** Throws `credential-key-lost` if the key ring lacks the storage's key, unless `lostKeys` contains it. */
  check(lostKeys?: readonly string[]): Promise<void>
}

export interface CredentialDeps {
  storage: Storage
  keyRing: KeyRing
  /** Other collections with data that this store encrypted. */
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
