/** The key ring of a page: a key that WebCrypto never gives out, kept by the browser for this origin. */
import { openDB } from 'idb'
import { aesKeyRing } from './aes-key-ring.ts'
import type { KeyRing } from './key-ring.ts'

const STORE = 'keys'
const KEY_ID = 'browser'

export async function browserKeyRing({ database = 'loadout-keys' } = {}): Promise<KeyRing> {
  const db = await openDB(database, 1, { upgrade: (fresh) => void fresh.createObjectStore(STORE) })
  try {
    const candidate = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    // One transaction: of two tabs that start together, one makes the key and the other finds it.
    const tx = db.transaction(STORE, 'readwrite')
    const stored = (await tx.store.get(KEY_ID)) as CryptoKey | undefined
    if (!stored) await tx.store.put(candidate, KEY_ID)
    await tx.done
    return aesKeyRing([{ id: KEY_ID, key: stored ?? candidate }])
  } finally {
    db.close()
  }
}
