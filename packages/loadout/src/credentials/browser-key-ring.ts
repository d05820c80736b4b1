/** Key ring of a page: a non-extractable WebCrypto key that the browser stores for this origin. */
import { openDB } from 'idb'
import { aesKeyRing } from './aes-key-ring.ts'
import type { KeyRing } from './key-ring.ts'

const STORE = 'keys'
const SLOT = 'current'

/** Another browser's key has another ID, which tells a lost key from a wrong one. */
interface StoredKey {
  id: string
  key: CryptoKey
}

export async function browserKeyRing({ database = 'loadout-keys' } = {}): Promise<KeyRing> {
  const db = await openDB(database, 1, { upgrade: (fresh) => void fresh.createObjectStore(STORE) })
  try {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    const candidate: StoredKey = { id: `browser-${crypto.randomUUID()}`, key }
    // One transaction, so that of two tabs that start together one creates the key and the other reads it.
    const tx = db.transaction(STORE, 'readwrite')
    const stored = (await tx.store.get(SLOT)) as StoredKey | undefined
    if (!stored) await tx.store.put(candidate, SLOT)
    await tx.done
    return aesKeyRing([stored ?? candidate])
  } finally {
    db.close()
  }
}
