import { aesKeyRing } from './aes-key-ring.ts'
import type { KeyRing } from './key-ring.ts'

/** A key ring that is opened at its first use, and once. A failed start is not kept: the next use tries again. */
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

/** A key that lives as long as this process, for storage that does too. */
export function processKeyRing(): KeyRing {
  return lazyKeyRing(async () => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    return aesKeyRing([{ id: 'process', key }])
  })
}
