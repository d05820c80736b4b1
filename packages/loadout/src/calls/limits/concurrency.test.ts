/** Concurrency slots of two processes over one storage, also when the storage fails. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { breakable } from '../../../test/fixtures/breakable-storage.ts'
import { HostError } from '../../errors.ts'
import { createProcessLease } from '../../processes/heartbeat.ts'
import { memory } from '../../storage/memory.ts'
import type { Storage } from '../../storage/storage.ts'
import { removeUserRows } from '../../users/remove-user.ts'
import { type Acquired, type Concurrency, createConcurrency } from './concurrency.ts'

/** The lease of tests in which it expires. */
const LEASE_MS = 400
let storage: Storage
let ended: Array<() => Promise<void>>
beforeEach(() => {
  storage = memory()
  ended = []
})
afterEach(async () => {
  for (const end of ended) await end()
  await storage.close()
})

function join(over: Storage = storage, leaseMs = 60_000) {
  const presence = createProcessLease(over, { leaseMs })
  const concurrency = createConcurrency({ storage: over, presence })
  const close = async () => {
    await concurrency.close()
    await presence.close()
  }
  ended.push(close)
  return { concurrency, close }
}

const to = (uscoId = 'usco_1', userId = 'ann') => ({ userId, stored: { uscoId } as never })
const acquire = async (concurrency: Concurrency, most: number, call = to()) =>
  concurrency.acquire(call, { concurrencyPerUser: most })
const release = (entered: Acquired) => 'release' in entered && entered.release()
const isFull = (entered: Acquired) => 'full' in entered
const rows = () => storage.transaction({ userId: 'ann' }, (tx) => tx.list('places'))

describe('the concurrency semaphore', () => {
  it('costs nothing without a limit', async () => {
    expect(join().concurrency.acquire(to(), {})).not.toBeInstanceOf(Promise)
    expect(await rows()).toEqual([])
  })

  it('shares one limit between two processes and passes freed slots on', async () => {
    const one = join().concurrency
    const two = join().concurrency
    const first = await acquire(one, 2)
    const second = await acquire(two, 2)
    const third = await acquire(two, 2)
    expect([first, second, third].map(isFull)).toEqual([false, false, true])
    expect('full' in third && third.full).toMatchObject({
      code: 'limit-reached',
      message: 'concurrencyPerUser is 2, and as many calls are under way.',
      action: 'Wait for one of them to end.',
    })
    release(first)
    const fourth = await acquire(two, 2)
    expect(isFull(fourth)).toBe(false)
    // A second release of the same slot has no effect.
    for (const entered of [first, second, fourth, fourth]) release(entered)
    await expect.poll(rows).toMatchObject([{ holdersJson: {} }])
  })

  it('counts slots for each toolkit and each user and releases one if the other is full', async () => {
    const { concurrency } = join()
    const limits = { concurrencyPerUser: 2, concurrencyPerToolkit: 1 }
    const first = await concurrency.acquire(to('a'), limits)
    expect(await concurrency.acquire(to('a'), limits)).toMatchObject({
      full: { message: expect.stringContaining('concurrencyPerToolkit is 1') },
    })
    const second = await concurrency.acquire(to('b'), limits)
    expect(await concurrency.acquire(to('c'), limits)).toMatchObject({
      full: { message: expect.stringContaining('concurrencyPerUser is 2') },
    })
    expect(isFull(await concurrency.acquire(to('a', 'bob'), limits))).toBe(false)
    release(first)
    release(second)
    expect(isFull(await concurrency.acquire(to('c'), limits))).toBe(false)
  })

  it('never exceeds its limit and uses all slots with 40 callers for 5 slots', async () => {
    const processes = [join().concurrency, join().concurrency]
    let now = 0
    let most = 0
    let entered = 0
    const caller = async (concurrency: Concurrency) => {
      for (let calls = 0; calls < 20; calls++) {
        const slot = await acquire(concurrency, 5)
        if (!('release' in slot)) continue
        most = Math.max(most, ++now)
        entered++
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
        now--
        slot.release()
      }
    }
    await Promise.all(Array.from({ length: 40 }, (_, index) => caller(processes[index % 2] as Concurrency)))
    expect(most).toBe(5)
    expect(entered).toBeGreaterThan(40)
    await expect.poll(rows).toMatchObject([{ holdersJson: {} }])
  })
})

describe('the slots of a process', () => {
  it('are released at once when it closes', async () => {
    const one = join()
    const two = join()
    await acquire(one.concurrency, 1)
    await one.close()
    expect(isFull(await acquire(two.concurrency, 1))).toBe(false)
  })

  it('are held for its lease while it is silent, and kept if it returns', async () => {
    const connection = breakable(storage)
    const one = join(connection.storage, LEASE_MS).concurrency
    const two = join().concurrency
    const acquired = await acquire(one, 1)
    // Renewed for as long as it is held.
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS * 1.5))
    const tried = async () => {
      const entered = await acquire(two, 1)
      release(entered)
      return isFull(entered) ? 'full' : 'free'
    }
    await expect.poll(tried).toBe('full')
    connection.isBroken = true
    await expect.poll(tried).toBe('free')
    connection.isBroken = false
    await expect.poll(tried).toBe('full')
    release(acquired)
    await expect.poll(tried).toBe('free')
  })
})

describe('the semaphore storage', () => {
  it('admits no call and loses no slot when it fails', async () => {
    const connection = breakable(storage)
    const { concurrency } = join(connection.storage)
    const first = await acquire(concurrency, 2)
    connection.isBroken = true
    await expect(acquire(concurrency, 2)).rejects.toSatisfy(
      (error) => HostError.is(error) && error.code === 'storage-unavailable',
    )
    release(first)
    connection.isBroken = false
    await expect.poll(rows).toMatchObject([{ holdersJson: {} }])
    expect(
      await Promise.all([acquire(concurrency, 2), acquire(concurrency, 2)]).then((both) => both.map(isFull)),
    ).toEqual([false, false])
  })

  it('stays empty for a removed user, also when their calls end', async () => {
    const { concurrency, close } = join()
    const first = await acquire(concurrency, 3)
    await acquire(concurrency, 3)
    await removeUserRows(storage, 'ann')
    release(first)
    await close()
    expect(await rows()).toEqual([])
  })
})
