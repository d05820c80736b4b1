import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CallClocks } from './call-timeout.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const pause = (ms: number) => vi.advanceTimersByTimeAsync(ms)

it('a call clock expires without progress, continues with it and always expires at the total', async () => {
  const clocks = new CallClocks()
  const still = clocks.start({ timeoutMs: 40, totalMs: 1000 })
  const moving = clocks.start({ timeoutMs: 60, totalMs: 200 })
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
  expect([still.nextMs, moving.nextMs]).toEqual([40, 200])
})

it('a call clock pauses during a user prompt and then continues', async () => {
  const clocks = new CallClocks()
  const clock = clocks.start({ timeoutMs: 60, totalMs: 90 })
  clock.pause()
  await pause(150)
  expect(clock.expired).toBe(false)
  clock.resume()
  await pause(20)
  expect(clock.expired).toBe(false)
  await pause(80)
  expect(clock.expired).toBe(true)
  const stopped = clocks.start({ timeoutMs: 10, totalMs: 10 })
  stopped.stop()
  await pause(30)
  expect(stopped.expired).toBe(false)
})

it('call clocks expire independently of their start order', async () => {
  const clocks = new CallClocks()
  const long = clocks.start({ timeoutMs: 150, totalMs: 1000 })
  const short = clocks.start({ timeoutMs: 30, totalMs: 1000 })
  const ended = clocks.start({ timeoutMs: 20, totalMs: 1000 })
  ended.stop()
  expect(clocks.running()).toHaveLength(2)
  await pause(70)
  expect([long.expired, short.expired, ended.expired]).toEqual([false, true, false])
  const next = clocks.start({ timeoutMs: 30, totalMs: 1000 })
  await pause(60)
  expect([long.expired, next.expired]).toEqual([false, true])
  await pause(80)
  expect([long.expired, clocks.running().length]).toEqual([true, 0])
})

it('a call clock counts a pause once and accepts progress during a pause', async () => {
  const clock = new CallClocks().start({ timeoutMs: 60, totalMs: 1000 })
  await pause(40)
  clock.pause()
  clock.pause()
  await pause(50)
  clock.progress()
  clock.resume()
  await pause(50)
  clock.resume()
  await pause(40)
  expect(clock.expired).toBe(false)
  await pause(50)
  expect(clock.expired).toBe(true)
})
