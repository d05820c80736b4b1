import { describe, expect, it } from 'vitest'
import { memory } from '../storage/memory.ts'
import { importAesKey, randomBytes } from './aes.ts'
import { aesKeyRing } from './aes-key-ring.ts'
import { createCredentialStore } from './credential-store.ts'
import type { KeyRing } from './key-ring.ts'

const owner = { userId: 'ann', toolkit: 'usco_1' }
const as = { userId: 'ann' }

describe('key rotation', () => {
  it('keeps a secret that is replaced during rotation and counts only its own changes', async () => {
    const storage = memory()
    const [one, two] = await Promise.all([importAesKey(randomBytes(32)), importAesKey(randomBytes(32))])
    const old = createCredentialStore({ storage, keyRing: aesKeyRing([{ id: 'one', key: one }]) })
    await storage.transaction(as, (tx) => old.save(tx, owner, { 'env.A': 'a', 'env.B': 'b', 'env.C': 'c' }))
    const both = aesKeyRing([
      { id: 'two', key: two },
      { id: 'one', key: one },
    ])
    const users = createCredentialStore({ storage, keyRing: both })
    let replaced: Promise<void> | undefined
    const keyRing: KeyRing = {
      ...both,
      // The rotation has read its page when it wraps, and has not written: here the user's own change is committed.
      async wrap(dataKey, boundTo) {
        replaced ??= storage.transaction(as, (tx) => users.save(tx, owner, { 'env.A': 'new a', 'env.B': 'new b' }))
        await replaced
        return both.wrap(dataKey, boundTo)
      },
    }
    const count = await createCredentialStore({ storage, keyRing }).rotate()
    const onlyNew = createCredentialStore({ storage, keyRing: aesKeyRing([{ id: 'two', key: two }]) })
    expect(await onlyNew.open(owner)).toEqual({ 'env.A': 'new a', 'env.B': 'new b', 'env.C': 'c' })
    expect(count).toEqual({ rewrapped: 1, lost: 0 })
  })
})
