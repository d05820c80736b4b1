import { describe, expect, it } from 'vitest'
import { browserKeyRing } from '../credentials/browser-key-ring.ts'
import { open, seal } from '../credentials/envelope.ts'
import { eventually } from '../testing/check.ts'
import { sampleThreadRow } from '../testing/suites/storage/rows.ts'
import { storageSuite } from '../testing/suites/storage/suite.ts'
import { indexedDb } from './indexeddb.ts'
import type { Change } from './storage.ts'

const fresh = () => `test-${crypto.randomUUID()}`

describe('storage: indexeddb, in a real browser', () => {
  for (const { name, run } of storageSuite(() => indexedDb({ database: fresh() }))) it(name, run)

  it('keeps its data and notifies another tab', async () => {
    const database = fresh()
    const [one, two] = [indexedDb({ database }), indexedDb({ database })]
    const changes: Change[] = []
    await two.watch((change) => changes.push(change))
    const row = sampleThreadRow('ann')
    await one.transaction({ userId: 'ann' }, (tx) => tx.insert('threads', row))
    await eventually(
      () => changes.some((change) => change.kind === 'row' && change.id === row.threadId),
      'the other tab is told',
    )
    await one.close()
    await two.close()
    const again = indexedDb({ database })
    expect(await again.transaction({ userId: 'ann' }, (tx) => tx.list('threads'))).toHaveLength(1)
    await again.close()
  })

  it('removes the default cap that an older version stored, and no chosen cap', async () => {
    const database = fresh()
    const opening = indexedDB.open(database, 7)
    opening.onupgradeneeded = () => opening.result.createObjectStore('preferences')
    const older = await settled(opening)
    const store = older.transaction('preferences', 'readwrite').objectStore('preferences')
    for (const [userId, most] of [
      ['ann', 16],
      ['bob', 5],
    ] as const) {
      const valueJson = { maxServersPerThread: most, theme: 'dark' }
      await settled(
        store.put({ preferencesId: 'preferences', userId, valueJson, updatedAt: new Date() }, [userId, 'preferences']),
      )
    }
    older.close()
    const storage = indexedDb({ database })
    const storedOf = (userId: string) =>
      storage.transaction({ userId }, async (tx) => (await tx.get('preferences', 'preferences'))?.valueJson)
    expect(await storedOf('ann')).toEqual({ theme: 'dark' })
    expect(await storedOf('bob')).toEqual({ maxServersPerThread: 5, theme: 'dark' })
    await storage.close()
  })

  it('yields to another tab and opens again, or asks to reload if that tab is newer', async () => {
    const database = fresh()
    const storage = indexedDb({ database })
    const ann = { userId: 'ann' }
    const insert = () => storage.transaction(ann, (tx) => tx.insert('threads', sampleThreadRow('ann')))
    await insert()
    await settled(indexedDB.deleteDatabase(database))
    await insert()
    expect(await storage.transaction(ann, (tx) => tx.list('threads'))).toHaveLength(1)

    const newer = await settled(indexedDB.open(database, 1000))
    newer.close()
    const error = await insert().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'storage-unavailable', action: 'Reload the page.' })
    await storage.close()
  })
})

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

describe('the browser key ring', () => {
  const address = { userId: 'ann', toolkit: 'usco_1', field: 'env.TOKEN' }

  it('keeps one key that cannot be exported', async () => {
    const database = fresh()
    const [ring, sameTime] = await Promise.all([browserKeyRing({ database }), browserKeyRing({ database })])
    const envelope = await seal(ring, address, 's3cret')
    expect(await open(sameTime, address, envelope)).toBe('s3cret')
    expect(await open(await browserKeyRing({ database }), address, envelope)).toBe('s3cret')
    const stored = await new Promise<CryptoKey>((resolve, reject) => {
      const request = indexedDB.open(database)
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        const get = request.result.transaction('keys').objectStore('keys').get('current')
        get.onsuccess = () => resolve(get.result.key)
      }
    })
    expect(stored.extractable).toBe(false)
    await expect(crypto.subtle.exportKey('raw', stored)).rejects.toThrow()
  })

  it('reports a lost key', async () => {
    const envelope = await seal(await browserKeyRing({ database: fresh() }), address, 's3cret')
    const other = await browserKeyRing({ database: fresh() })
    await expect(open(other, address, envelope)).rejects.toMatchObject({ code: 'credential-key-lost' })
  })
})
