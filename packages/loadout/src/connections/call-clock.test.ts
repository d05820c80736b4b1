import { expect, it } from 'vitest'
import { startClock } from './call-clock.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('ends without progress, goes on with it, and ends at the total in any case', async () => {
  const still = startClock({ timeoutMs: 40, totalMs: 1000 })
  const moving = startClock({ timeoutMs: 60, totalMs: 200 })
  for (let i = 0; i < 4; i++) {
    await pause(30)
    moving.progress()
  }
  expect([still.expired, moving.expired, still.signal.aborted]).toEqual([true, false, true])
  for (let i = 0; i < 5; i++) {
    await pause(30)
    moving.progress()
  }
  expect(moving.expired).toBe(true)
})

it('stands still while somebody is asked, and then goes on', async () => {
  const clock = startClock({ timeoutMs: 60, totalMs: 90 })
  clock.pause()
  await pause(150)
  expect(clock.expired).toBe(false)
  clock.resume()
  await pause(20)
  expect(clock.expired).toBe(false)
  await pause(80)
  expect(clock.expired).toBe(true)
  const stopped = startClock({ timeoutMs: 10, totalMs: 10 })
  stopped.stop()
  await pause(30)
  expect(stopped.expired).toBe(false)
})
