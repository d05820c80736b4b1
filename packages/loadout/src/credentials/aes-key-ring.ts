import { HostError } from '../errors.ts'
import { bind, decrypt, encrypt } from './aes.ts'
import type { KeyRing } from './key-ring.ts'

const IV_BYTES = 12

/** A key ring over keys that this process holds. The first is the current one. */
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

// The key's own id is bound too, so that a row cannot be pointed at another key.
const withKeyId = (keyId: string, boundTo: Uint8Array) => concat(bind(keyId), boundTo)

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}
