/** Batching: entries are shipped soon in a pause, and after a maximum delay without one. */
import { afterEach, expect, it } from 'vitest'
import { newId } from '../../schema/ids.ts'
import { memory } from '../../storage/memory.ts'
import { webSha256 } from '../chain.ts'
import { newEntry } from '../entry.ts'
import { memoryJournal } from './journal.ts'
import { createShipper, type Shipper } from './shipper.ts'

let shipper: Shipper | undefined
afterEach(() => shipper?.close())

function start() {
  const journal = memoryJournal()
  const shipped: number[] = []
  const began = performance.now()
  const fresh = createShipper({
    storage: memory(),
    journal,
    sha256: webSha256,
    onProblem: (error) => {
      throw error
    },
    onShipped: () => void shipped.push(performance.now() - began),
    everyMs: 20,
    mostMs: 400,
  })
  shipper = fresh
  const append = () => {
    void journal.append(newEntry(newId('auditEntry'), { userId: 'ann', action: 'x' }))
    fresh.poke()
  }
  return { append, shipped }
}

it('the shipper waits for a pause so that calls go first', async () => {
  const { append, shipped } = start()
  const coming = setInterval(append, 5)
  await new Promise((resolve) => setTimeout(resolve, 250))
  expect(shipped).toEqual([])
  clearInterval(coming)
  await expect.poll(() => shipped.length).toBeGreaterThan(0)
})

it('the shipper does not wait forever if there is no pause', async () => {
  const { append, shipped } = start()
  const coming = setInterval(append, 5)
  await expect.poll(() => shipped.length).toBeGreaterThan(0)
  expect(shipped[0]).toBeGreaterThan(300)
  clearInterval(coming)
})
