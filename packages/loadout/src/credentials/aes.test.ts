import { describe, expect, it } from 'vitest'
import { decrypt, encrypt, importAesKey, randomBytes } from './aes.ts'

const plain = new TextEncoder().encode('a secret')
const boundTo = new TextEncoder().encode('its place')

describe('the ciphertext tag', () => {
  it('has 16 bytes', async () => {
    const { ciphertext } = await encrypt(await importAesKey(randomBytes(32)), plain, boundTo)
    expect(ciphertext).toHaveLength(plain.length + 16)
  })

  it('is rejected when it has 12 bytes, even if it is valid', async () => {
    const key = await importAesKey(randomBytes(32))
    const iv = randomBytes(12) as Uint8Array<ArrayBuffer>
    const short = { name: 'AES-GCM', iv, additionalData: boundTo, tagLength: 96 }
    const ciphertext = new Uint8Array(await crypto.subtle.encrypt(short, key, plain))
    expect(ciphertext).toHaveLength(plain.length + 12)
    await expect(decrypt(key, { iv, ciphertext }, boundTo)).rejects.toMatchObject({ code: 'credential-unreadable' })
  })
})
