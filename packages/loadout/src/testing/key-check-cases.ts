/** What a start finds out about its keys, on any storage that outlives a process. */
import { expect } from 'vitest'
import { importKey, randomBytes } from '../credentials/aes.ts'
import { aesKeyRing } from '../credentials/aes-key-ring.ts'
import { createHost } from '../host.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { Storage } from '../storage/storage.ts'

/** Cases over one storage, which each of them empties of credentials first. */
export async function keyCheckCases(storage: Storage) {
  const [one, two] = await Promise.all([importKey(randomBytes(32)), importKey(randomBytes(32))])
  const keys = { one: { id: 'one', key: one }, two: { id: 'two', key: two } }
  const ring = (...ids: Array<keyof typeof keys>) => aesKeyRing(ids.map((id) => keys[id]))
  const hostOf = (keyRing: ReturnType<typeof ring>, lostKeys?: string[]) =>
    createHost({ storage: { ...storage, close: async () => {} }, keyRing, lostKeys })
  const start = async (...given: Parameters<typeof hostOf>) => {
    const host = hostOf(...given)
    try {
      await host.ready()
    } finally {
      await host.close()
    }
  }
  const empty = async () => {
    for (const userId of ['ann', APP_OWNER])
      await storage.transaction({ caller: 'key-rotation', userId }, async (tx) => {
        const rows = await tx.list('credentials', { where: { userId } })
        for (const row of rows) await tx.delete('credentials', row.credentialId)
      })
  }
  const lost = { code: 'credential-key-lost', action: expect.stringContaining('LOADOUT_LOST_KEYS=one') }
  const cases: Record<string, () => Promise<void>> = {
    'another key ends the start, the same one does not': async () => {
      await start(ring('one'))
      await start(ring('one'))
      await expect(start(ring('two'))).rejects.toMatchObject({ ...lost, message: expect.stringContaining('"one"') })
      await start(ring('one'))
    },
    'a key that only has the name of the old one ends it, too': async () => {
      await start(ring('one'))
      await expect(start(aesKeyRing([{ id: 'one', key: two }]))).rejects.toMatchObject(lost)
    },
    'a ring of the new and the old one starts; after the rotation the new one is enough': async () => {
      await start(ring('one'))
      const host = hostOf(ring('two', 'one'))
      await host.ready()
      await expect(start(ring('two'))).rejects.toMatchObject(lost)
      expect(await host.credentials.rotate()).toEqual({ rewrapped: 1, lost: 0 })
      await host.close()
      await start(ring('two'))
    },
    'what was sealed before there was a check counts': async () => {
      const host = hostOf(ring('one'))
      const owner = { userId: 'ann', toolkit: 'usco_1' }
      await storage.transaction({ userId: 'ann' }, (tx) => host.credentials.save(tx, owner, { 'env.A': 'a' }))
      await host.close()
      await expect(start(ring('two'))).rejects.toMatchObject(lost)
      await start(ring('one'))
    },
    'a key that is lost is given up by its name, and what it sealed with it': async () => {
      await start(ring('one'))
      await expect(start(ring('two'), ['three'])).rejects.toMatchObject(lost)
      await start(ring('two'), ['one'])
      await start(ring('two'))
      await start(ring('two'), ['one'])
    },
    'many that start at once for the first time agree': async () => {
      await Promise.all(Array.from({ length: 4 }, () => start(ring('one'))))
      const mixed = await Promise.allSettled([start(ring('one')), start(ring('two'))])
      expect(mixed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    },
  }
  return Object.entries(cases).map(([name, run]) => ({ name, run: () => empty().then(run) }))
}
