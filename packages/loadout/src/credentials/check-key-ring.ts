/**
 * Checks at startup that the key ring can open this storage: an encrypted check row, which rotates like all others,
 * must open. A storage without that row is checked by its existing credentials.
 */
import { HostError } from '../errors.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import type { CredentialRow } from '../schema/records/credential.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { open, seal } from './envelope.ts'
import type { KeyRing } from './key-ring.ts'

interface Sealed {
  storage: Storage
  keyRing: KeyRing
}

const ADDRESS = { userId: APP_OWNER, toolkit: 'host', field: 'key-check' } as const
const TEXT = 'loadout'
/** Rows to try if the check row is missing. */
const MAX_CHECKED_ROWS = 50
/** The keys of these storages live with the data, or as long as the process. */
const UNCHECKED = new Set(['memory', 'indexeddb'])

/**
 * Throws `credential-key-lost` if the ring lacks the storage's key. `lostKeys` are abandoned with what they encrypted.
 */
export async function checkKeyRing({ storage, keyRing }: Sealed, lostKeys: readonly string[] = []): Promise<void> {
  if (UNCHECKED.has(storage.name)) return
  const isGood = async (row: CredentialRow) => lostKeys.includes(row.keyId) || (await canOpen(keyRing, row))
  const row = await asApp(storage, find)
  if (row) {
    if (await canOpen(keyRing, row)) return
    if (!lostKeys.includes(row.keyId)) throw otherRing(row)
    return write({ storage, keyRing }, row)
  }
  const sealed = await storage.transaction({ caller: 'key-rotation' }, (tx) =>
    tx.list('credentials', { limit: MAX_CHECKED_ROWS }),
  )
  const good = await Promise.all(sealed.map(isGood))
  if (sealed[0] && !good.includes(true)) throw otherRing(sealed[0])
  await write({ storage, keyRing }, undefined)
}

/** If several processes start at once, one writes the row, and the key rings of the others must open it. */
async function write({ storage, keyRing }: Sealed, old: CredentialRow | undefined): Promise<void> {
  const envelope = await seal(keyRing, ADDRESS, TEXT)
  const now = new Date()
  try {
    await asApp(storage, async (tx) => {
      if (old) await tx.update('credentials', old.credentialId, { set: { ...envelope, updatedAt: now } })
      else
        await tx.insert('credentials', {
          credentialId: newId('credential'),
          ...ADDRESS,
          ...envelope,
          createdAt: now,
          updatedAt: now,
        })
    })
  } catch (error) {
    if (!HostError.is(error) || error.code !== 'conflict') throw error
    const existing = await asApp(storage, find)
    if (existing && !(await canOpen(keyRing, existing))) throw otherRing(existing)
  }
}

const asApp = <T>(storage: Storage, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  storage.transaction({ caller: 'app-credentials', userId: APP_OWNER }, work)

const find = async (tx: Transaction): Promise<CredentialRow | undefined> =>
  (await tx.list('credentials', { where: ADDRESS, limit: 1 }))[0]

async function canOpen(keyRing: KeyRing, row: CredentialRow): Promise<boolean> {
  try {
    await open(keyRing, row, row)
    return true
  } catch (error) {
    // A key ring that is unreachable says nothing about its keys.
    if (HostError.is(error) && (error.code === 'credential-key-lost' || error.code === 'credential-unreadable'))
      return false
    throw error
  }
}

const otherRing = ({ keyId }: CredentialRow) =>
  new HostError('credential-key-lost', {
    detail: `The stored credentials are sealed with the key "${keyId}", which the key ring does not have.`,
    action:
      `Start with that key: beside the new one (LOADOUT_MASTER_KEY=new,old), or with the keys.json of the backup. ` +
      `If it is lost, give it up with LOADOUT_LOST_KEYS=${keyId}: its credentials must be entered again.`,
  })
