/** Key rings over AES keys in this process, and the choice of the host's key ring. */
import { HostError } from '../errors.ts'
import type { Storage } from '../storage/storage.ts'
import { bind, decrypt, encrypt } from './aes.ts'
import type { KeyRing } from './key-ring.ts'

const IV_BYTES = 12

/** The first key is the current one. */
export function aesKeyRing(keys: ReadonlyArray<{ id: string; key: CryptoKey }>): KeyRing {
  const [current] = keys
  if (!current) throw new HostError('config-invalid', { detail: 'A key ring needs at least one key.' })
  const byId = new Map(keys.map(({ id, key }) => [id, key]))

  return {
    async currentKeyId() {
      return current.id
    },
    async wrap(dataKey, boundTo) {
      const { iv, ciphertext } = await encrypt(current.key, dataKey, withKeyId(current.id, boundTo))
      return { keyId: current.id, wrapped: concat(iv, ciphertext) }
    },
    async unwrap(keyId, wrapped, boundTo) {
      const key = byId.get(keyId)
      if (!key) throw new HostError('credential-key-lost', { detail: `The key "${keyId}" is not in the key ring.` })
      const sealed = { iv: wrapped.slice(0, IV_BYTES), ciphertext: wrapped.slice(IV_BYTES) }
      return decrypt(key, sealed, withKeyId(keyId, boundTo))
    },
  }
}

// The key ID is bound too, so that a row cannot be moved to another key.
const withKeyId = (keyId: string, boundTo: Uint8Array) => concat(bind(keyId), boundTo)

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

/** Opens the ring once, on first use. A failed open is not cached. */
export function lazyKeyRing(open: () => Promise<KeyRing>): KeyRing {
  let opened: Promise<KeyRing> | undefined
  const ring = () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    currentKeyId: async () => (await ring()).currentKeyId(),
    wrap: async (dataKey, boundTo) => (await ring()).wrap(dataKey, boundTo),
    unwrap: async (keyId, wrapped, boundTo) => (await ring()).unwrap(keyId, wrapped, boundTo),
  }
}

/** A key for the lifetime of this process, for in-memory storage. */
export function processKeyRing(): KeyRing {
  return lazyKeyRing(async () => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    return aesKeyRing([{ id: 'process', key }])
  })
}

/** Returns the configured key ring, otherwise the storage's own; in-memory storage gets a key of this process. */
export function resolveKeyRing(storage: Storage, configured: KeyRing | (() => Promise<KeyRing>) | undefined): KeyRing {
  if (typeof configured === 'function') return lazyKeyRing(configured)
  if (configured) return configured
  if (storage.keyRing) return lazyKeyRing(storage.keyRing)
  if (storage.name === 'memory') return processKeyRing()
  throw new HostError('config-invalid', {
    detail: `Storage "${storage.name}" outlives the process, so its credentials need a keyRing that does too.`,
    action: 'Give createHost a keyRing: keyFileRing(path), masterKeyRing(key) or browserKeyRing().',
  })
}
