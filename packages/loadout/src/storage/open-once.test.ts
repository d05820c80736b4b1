import { describe, expect, it } from 'vitest'
import { lazyKeyRing, processKeyRing } from '../credentials/aes-key-ring.ts'
import { createKvStorage } from './kv/kv-storage.ts'
import { memoryBackend } from './kv/memory-backend.ts'
import { openOnce } from './open-once.ts'

/** Fails the first time, as a database that is still starting does. */
function startsLate<T>(value: () => T): () => Promise<T> {
  let tries = 0
  return async () => {
    if (tries++ === 0) throw new Error('not yet')
    return value()
  }
}

describe('a lazily opened resource', () => {
  it('is opened once for many callers and again after it is forgotten', async () => {
    let opened = 0
    const connection = openOnce(async () => ++opened)
    expect(await Promise.all([connection.use(), connection.use()])).toEqual([1, 1])
    expect(await connection.forget()).toBe(1)
    expect(await connection.use()).toBe(2)
    expect(await connection.close()).toBe(2)
    await expect(connection.use()).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(await connection.close()).toBeUndefined()
  })

  it('is retried after a failed start: a storage', async () => {
    const storage = createKvStorage({ name: 'late', open: startsLate(memoryBackend) })
    await expect(storage.ready()).rejects.toThrow('not yet')
    expect(await storage.transaction({ userId: 'ann' }, (tx) => tx.list('threads'))).toEqual([])
  })

  it('is retried after a failed start: a key ring', async () => {
    const ring = lazyKeyRing(startsLate(processKeyRing))
    await expect(ring.currentKeyId()).rejects.toThrow('not yet')
    expect(await ring.currentKeyId()).toBe('process')
  })
})
