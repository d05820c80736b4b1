/** Batching: entries are shipped soon in a pause, and after a maximum delay without one. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { newId } from '../../schema/ids.ts'
import { memory } from '../../storage/memory.ts'
import { webSha256 } from '../chain.ts'
import { newEntry } from '../entry.ts'
import { memoryJournal } from './journal.ts'
import { createShipper, type Shipper } from './shipper.ts'

let shipper: Shipper | undefined
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(async () => {
  await shipper?.close()
  vi.useRealTimers()
})

function start() {
  const journal = memoryJournal()
  let shipped = 0
  const fresh = createShipper({
    storage: memory(),
    journal,
    sha256: webSha256,
    onProblem: (error) => {
      throw error
    },
    onShipped: () => void shipped++,
    everyMs: 20,
    mostMs: 400,
  })
  shipper = fresh
  const append = () => {
    void journal.append(newEntry(newId('auditEntry'), { userId: 'ann', action: 'x' }))
    fresh.poke()
  }
  return { append, shipped: () => shipped }
}

it('the shipper waits for a pause so that calls go first', async () => {
  const { append, shipped } = start()
  const coming = setInterval(append, 5)
  await vi.advanceTimersByTimeAsync(250)
  expect(shipped()).toBe(0)
  clearInterval(coming)
  await vi.advanceTimersByTimeAsync(100)
  await expect.poll(shipped).toBe(1)
})

it('the shipper does not wait forever if there is no pause', async () => {
  const { append, shipped } = start()
  const coming = setInterval(append, 5)
  await vi.advanceTimersByTimeAsync(350)
  expect(shipped()).toBe(0)
  await vi.advanceTimersByTimeAsync(100)
  await expect.poll(shipped).toBe(1)
  clearInterval(coming)
})
