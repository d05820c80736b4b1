import { afterAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { newId } from '../schema/ids.ts'
import { postgres } from '../storage/postgres.ts'
import { importAesKey, randomBytes } from './aes.ts'
import { aesKeyRing } from './aes-key-ring.ts'
import { createCredentialStore } from './credential-store.ts'
import { seal } from './envelope.ts'

const ROWS = process.env.LOADOUT_PROVE === 'full' ? 10_000 : 2000
const USERS = 20
const { url, drop } = await createDatabase(inject('postgresUrl'))
afterAll(() => drop())

it(`key rotation of ${ROWS} rows does not fail concurrent reads`, async () => {
  const storage = postgres({ url })
  const [oldKey, newKey] = await Promise.all([importAesKey(randomBytes(32)), importAesKey(randomBytes(32))])
  const before = aesKeyRing([{ id: 'old', key: oldKey }])
  const store = createCredentialStore({
    storage,
    keyRing: aesKeyRing([
      { id: 'new', key: newKey },
      { id: 'old', key: oldKey },
    ]),
  })
  const owner = (i: number) => ({ userId: `user${i % USERS}`, toolkit: `usco_${i % 500}` })

  await Promise.all(
    Array.from({ length: USERS }, (_, user) =>
      storage.transaction({ userId: `user${user}` }, async (tx) => {
        for (let i = user; i < ROWS; i += USERS) {
          const address = { ...owner(i), field: `env.V${i}` }
          const envelope = await seal(before, address, `secret ${i}`)
          await tx.insert('credentials', {
            credentialId: newId('credential'),
            ...address,
            ...envelope,
            createdAt: new Date(),
            updatedAt: new Date(),
          })
        }
      }),
    ),
  )

  let rotating = true
  let reads = 0
  const reader = async (seed: number) => {
    for (let i = seed; rotating; i = (i * 7919 + 13) % ROWS) {
      const opened = await store.open(owner(i))
      expect(opened[`env.V${i}`]).toBe(`secret ${i}`)
      reads++
    }
  }
  const readers = [reader(1), reader(2), reader(3)]
  const count = await store.rotate()
  rotating = false
  await Promise.all(readers)

  expect(count).toEqual({ rewrapped: ROWS, lost: 0 })
  expect(reads).toBeGreaterThan(ROWS / 200)
  const onlyNew = createCredentialStore({ storage, keyRing: aesKeyRing([{ id: 'new', key: newKey }]) })
  for (let i = 0; i < ROWS; i += 251) expect((await onlyNew.open(owner(i)))[`env.V${i}`]).toBe(`secret ${i}`)
  expect(await store.rotate()).toEqual({ rewrapped: 0, lost: 0 })
  await storage.close()
})
