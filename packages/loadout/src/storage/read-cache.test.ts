import { describe, expect, it } from 'vitest'
import { memory } from './memory.ts'
import { createReadCache } from './read-cache.ts'
import type { Change, Storage } from './storage.ts'

/** A storage whose changes the test tells by hand. */
function watched(): { storage: Storage; tell: (change: Change) => void } {
  const listeners: Array<(change: Change) => void> = []
  const storage = {
    ...memory(),
    watch: async (listener: (change: Change) => void) => {
      listeners.push(listener)
      listener({ kind: 'live' })
      return () => {}
    },
  }
  return {
    storage,
    tell: (change) => {
      for (const listener of listeners) listener(change)
    },
  }
}

const row = (userId: string): Change => ({ kind: 'row', collection: 'threads', userId, id: 'x' })

describe('the read cache', () => {
  it('loads once for many readers and again after a change', async () => {
    const { storage, tell } = watched()
    const cache = createReadCache(storage)
    let loads = 0
    const read = (userId: string) => cache.read({ userId, name: 'n' }, ['threads'], async () => `${userId} ${++loads}`)
    expect(await Promise.all([read('ann'), read('ann'), read('bob')])).toEqual(['ann 1', 'ann 1', 'bob 2'])
    tell(row('ann'))
    expect([await read('ann'), await read('bob')]).toEqual(['ann 3', 'bob 2'])
    tell({ ...row('ann'), collection: 'runs' } as Change)
    expect(await read('ann')).toBe('ann 3')
    tell(row(''))
    expect([await read('ann'), await read('bob')]).toEqual(['ann 4', 'bob 5'])
  })

  it('loads again after a change that arrives during a load', async () => {
    const { storage, tell } = watched()
    const cache = createReadCache(storage)
    let stored = 'old'
    const loading = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const read = () =>
      cache.read({ userId: 'ann', name: 'n' }, ['threads'], async () => {
        const value = stored
        loading.resolve()
        await gate.promise
        return value
      })
    const early = read()
    await loading.promise
    stored = 'new'
    tell(row('ann'))
    gate.resolve()
    expect([await early, await read()]).toEqual(['old', 'new'])
  })

  it('caches nothing while the watch is lost and starts empty when the watch is live again', async () => {
    const { storage, tell } = watched()
    const cache = createReadCache(storage)
    let loads = 0
    const read = () => cache.read({ userId: 'ann', name: 'n' }, ['threads'], async () => ++loads)
    await read()
    tell({ kind: 'lost' })
    expect([await read(), await read()]).toEqual([2, 3])
    tell({ kind: 'live' })
    expect([await read(), await read()]).toEqual([4, 4])
  })

  it('does not cache a failed load', async () => {
    const cache = createReadCache(watched().storage)
    const fail = cache.read({ userId: 'ann', name: 'n' }, ['threads'], async () => {
      throw new Error('down')
    })
    await expect(fail).rejects.toThrow('down')
    expect(await cache.read({ userId: 'ann', name: 'n' }, ['threads'], async () => 'up')).toBe('up')
  })

  it('reads through while watching fails and caches once watching works', async () => {
    const { storage } = watched()
    let down = true
    const watch: Storage['watch'] = async (listener) => {
      if (down) throw new Error('down')
      return storage.watch(listener)
    }
    const cache = createReadCache({ ...storage, watch })
    let loads = 0
    const read = () => cache.read({ userId: 'ann', name: 'n' }, ['threads'], async () => ++loads)
    expect([await read(), await read()]).toEqual([1, 2])
    down = false
    expect([await read(), await read()]).toEqual([3, 3])
  })

  it('bounds the number of cached users', async () => {
    const cache = createReadCache(watched().storage, { maxUsers: 2 })
    let loads = 0
    const read = (userId: string) => cache.read({ userId, name: 'n' }, ['threads'], async () => ++loads)
    for (const user of ['a', 'b', 'c']) await read(user)
    expect([await read('c'), await read('a')]).toEqual([3, 4])
  })

  it('evicts the least recently read user when the cached rows exceed their bound', async () => {
    const { storage } = watched()
    const cache = createReadCache(storage, { maxRows: 250 })
    let loads = 0
    const read = (userId: string) =>
      cache.read({ userId, name: 'n' }, ['threads'], async () => {
        loads++
        return new Map([['kit', Array.from({ length: 100 }, (_, index) => index)]])
      })
    for (const userId of ['ann', 'bob', 'ann', 'cyd']) await read(userId)
    expect(loads).toBe(3)
    await read('ann')
    await read('cyd')
    expect(loads).toBe(3)
    await read('bob')
    expect(loads).toBe(4)
  })
})
