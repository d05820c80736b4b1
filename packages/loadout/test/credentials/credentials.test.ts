import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importAesKey, randomBytes, toBase64 } from '../../src/credentials/aes.ts'
import { aesKeyRing } from '../../src/credentials/aes-key-ring.ts'
import { createCredentialStore } from '../../src/credentials/credential-store.ts'
import { open, seal } from '../../src/credentials/envelope.ts'
import { addKey, keyFileRing } from '../../src/credentials/key-file.ts'
import { masterKeyRing } from '../../src/credentials/master-key.ts'
import type { CredentialAddress, Envelope } from '../../src/schema/records/credential.ts'
import { memory } from '../../src/storage/memory.ts'

const newRing = async (id = 'k1') => aesKeyRing([{ id, key: await importAesKey(randomBytes(32)) }])
const ADDRESS: CredentialAddress = { userId: 'ann', toolkit: 'usco_1', field: 'env.TOKEN' }

describe('a credential envelope', () => {
  it('opens for its own address', async () => {
    const ring = await newRing()
    const envelope = await seal(ring, ADDRESS, 'sëcret 漢')
    expect(await open(ring, ADDRESS, envelope)).toBe('sëcret 漢')
    expect(JSON.stringify(envelope)).not.toContain('cret')
  })

  it('is different each time', async () => {
    const ring = await newRing()
    const [a, b] = [await seal(ring, ADDRESS, 'x'), await seal(ring, ADDRESS, 'x')]
    for (const part of ['wrappedKey', 'iv', 'ciphertext'] as const) expect(a[part]).not.toBe(b[part])
  })

  const moved: Record<string, CredentialAddress> = {
    'another user': { ...ADDRESS, userId: 'bob' },
    'another toolkit': { ...ADDRESS, toolkit: 'usco_2' },
    'another field': { ...ADDRESS, field: 'env.OTHER' },
    'the app': { ...ADDRESS, userId: '' },
    'parts that join to the same text': { userId: 'annu', toolkit: 'sco_1', field: 'env.TOKEN' },
  }
  for (const [where, address] of Object.entries(moved))
    it(`does not open for ${where}`, async () => {
      const ring = await newRing()
      await expect(open(ring, address, await seal(ring, ADDRESS, 'x'))).rejects.toMatchObject({
        code: 'credential-unreadable',
      })
    })

  const damaged: Record<string, (envelope: Envelope) => Envelope> = {
    'a flipped bit in the data': (e) => ({ ...e, ciphertext: flip(e.ciphertext) }),
    'a flipped bit in the key': (e) => ({ ...e, wrappedKey: flip(e.wrappedKey) }),
    'a flipped bit in the nonce': (e) => ({ ...e, iv: flip(e.iv) }),
    'a tag cut to four bytes': (e) => ({
      ...e,
      ciphertext: toBase64(Uint8Array.from(atob(e.ciphertext), (c) => c.charCodeAt(0)).slice(0, -12)),
    }),
  }
  for (const [what, damage] of Object.entries(damaged))
    it(`does not open with ${what}`, async () => {
      const ring = await newRing()
      const envelope = damage(await seal(ring, ADDRESS, 'a secret'))
      await expect(open(ring, ADDRESS, envelope)).rejects.toMatchObject({ code: 'credential-unreadable' })
    })

  it('does not open with another key of the ring', async () => {
    const keys = [
      { id: 'a', key: await importAesKey(randomBytes(32)) },
      { id: 'b', key: await importAesKey(randomBytes(32)) },
    ]
    const ring = aesKeyRing(keys)
    const envelope = await seal(ring, ADDRESS, 'x')
    await expect(open(ring, ADDRESS, { ...envelope, keyId: 'b' })).rejects.toMatchObject({
      code: 'credential-unreadable',
    })
  })

  it('reports a lost key by its ID', async () => {
    const envelope = await seal(await newRing('old'), ADDRESS, 'x')
    await expect(open(await newRing('new'), ADDRESS, envelope)).rejects.toMatchObject({
      code: 'credential-key-lost',
      message: expect.stringContaining('"old"'),
    })
  })
})

describe('the credential store', () => {
  const owner = { userId: 'ann', toolkit: 'usco_1' }

  it('saves, replaces, opens and clears secrets', async () => {
    const storage = memory()
    const store = createCredentialStore({ storage, keyRing: await newRing() })
    const as = { userId: 'ann' }
    await storage.transaction(as, (tx) => store.save(tx, owner, { 'env.A': '1', 'env.B': '2' }))
    await storage.transaction(as, (tx) => store.save(tx, owner, { 'env.A': '3' }))
    expect(await store.open(owner)).toEqual({ 'env.A': '3', 'env.B': '2' })
    expect(await store.open({ ...owner, userId: 'bob' })).toEqual({})
    await storage.transaction(as, (tx) => store.clear(tx, owner, ['env.B']))
    expect(await storage.transaction(as, (tx) => store.fields(tx, owner))).toEqual(['env.A'])
    await storage.transaction(as, (tx) => store.clear(tx, owner))
    expect(await store.open(owner)).toEqual({})
  })

  it('rotates keys, keeps a secret that is replaced meanwhile and counts lost ones', async () => {
    const storage = memory()
    const [one, two, gone] = await Promise.all([
      importAesKey(randomBytes(32)),
      importAesKey(randomBytes(32)),
      importAesKey(randomBytes(32)),
    ])
    const before = createCredentialStore({ storage, keyRing: aesKeyRing([{ id: 'one', key: one }]) })
    const lost = createCredentialStore({ storage, keyRing: aesKeyRing([{ id: 'gone', key: gone }]) })
    const as = { userId: 'ann' }
    await storage.transaction(as, (tx) =>
      before.save(tx, owner, Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`env.${i}`, `v${i}`]))),
    )
    await storage.transaction(as, (tx) => lost.save(tx, { ...owner, toolkit: 'usco_2' }, { 'env.X': 'x' }))
    const after = createCredentialStore({
      storage,
      keyRing: aesKeyRing([
        { id: 'two', key: two },
        { id: 'one', key: one },
      ]),
    })
    const [count] = await Promise.all([
      after.rotate(),
      storage.transaction(as, (tx) => after.save(tx, owner, { 'env.7': 'new' })),
    ])
    expect(count.lost).toBe(1)
    const opened = await createCredentialStore({ storage, keyRing: aesKeyRing([{ id: 'two', key: two }]) }).open(owner)
    expect(opened).toMatchObject({ 'env.0': 'v0', 'env.7': 'new', 'env.29': 'v29' })
  })
})

describe('the environment master key', () => {
  const strong = toBase64(randomBytes(32))
  const weak: Record<string, string> = {
    'too short': toBase64(randomBytes(16)),
    'too long': toBase64(randomBytes(48)),
    'all the same byte': toBase64(new Uint8Array(32)),
    'a passphrase in base64': btoa('correct horse battery staple 123'),
    'not base64': 'correct horse battery staple!!!',
    'hex of too few bytes': 'abcd',
  }
  for (const [what, key] of Object.entries(weak))
    it(`is rejected when it is ${what}`, async () => {
      const refused = masterKeyRing(key)
      await expect(refused).rejects.toMatchObject({ code: 'weak-key' })
      await refused.catch((error) => expect(error.message).not.toContain(key))
    })

  it('accepts base64, base64url and hex, and several keys for a rotation', async () => {
    const bytes = randomBytes(32)
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const url = toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_')
    const envelope = await seal(await masterKeyRing(toBase64(bytes)), ADDRESS, 'x')
    for (const setting of [hex, url, `${strong},${hex}`])
      expect(await open(await masterKeyRing(setting), ADDRESS, envelope)).toBe('x')
  })
})

describe('the local key file', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-keys-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('is created once with access for its owner only', async () => {
    const path = join(folder, 'a', 'keys.json')
    const rings = await Promise.all(Array.from({ length: 5 }, () => keyFileRing(path)))
    expect(new Set(await Promise.all(rings.map((ring) => ring.currentKeyId()))).size).toBe(1)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('puts a new key first and keeps the old one', async () => {
    const path = join(folder, 'b.json')
    const envelope = await seal(await keyFileRing(path), ADDRESS, 'x')
    const ring = await addKey(path)
    expect(await ring.currentKeyId()).not.toBe(envelope.keyId)
    expect(await open(await keyFileRing(path), ADDRESS, envelope)).toBe('x')
    expect(JSON.parse(await readFile(path, 'utf8')).keys).toHaveLength(2)
  })

  it('is rejected when others can read it or when it is damaged', async () => {
    const path = join(folder, 'c.json')
    await keyFileRing(path)
    await chmod(path, 0o644)
    await expect(keyFileRing(path)).rejects.toMatchObject({ code: 'key-file-unsafe' })
    for (const damaged of [
      '{',
      '{"version":1,"keys":[{"id":"k","key":"c2hvcnQ="}]}',
      '{"version":1,"keys":[{"id":"k","key":"%%"}]}',
    ]) {
      await writeFile(path, damaged, { mode: 0o600 })
      await chmod(path, 0o600)
      await expect(keyFileRing(path)).rejects.toMatchObject({
        code: 'key-file-unsafe',
        action: expect.stringContaining('backup'),
      })
    }
  })
})

function flip(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  bytes[0] = (bytes[0] ?? 0) ^ 1
  return toBase64(bytes)
}
