/** The key ring of a page: a key that WebCrypto never gives out, kept by the browser for this origin. */
import { openDB } from 'idb'
import { aesKeyRing } from './aes-key-ring.ts'
import type { KeyRing } from './key-ring.ts'

const STORE = 'keys'
const SLOT = 'current'

/** The id tells a lost key from a wrong one: another browser's key has another id. */
interface StoredKey {
  id: string
  key: CryptoKey
}

export async function browserKeyRing({ database = 'loadout-keys' } = {}): Promise<KeyRing> {
  const db = await openDB(database, 1, { upgrade: (fresh) => void fresh.createObjectStore(STORE) })
  try {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    const candidate: StoredKey = { id: `browser-${crypto.randomUUID()}`, key }
    // One transaction: of two tabs that start together, one makes the key and the other finds it.
    const tx = db.transaction(STORE, 'readwrite')
    const stored = (await tx.store.get(SLOT)) as StoredKey | undefined
    if (!stored) await tx.store.put(candidate, SLOT)
    await tx.done
    return aesKeyRing([stored ?? candidate])
  } finally {
    db.close()
  }
}
