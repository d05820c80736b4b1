import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { throttle, throttleProgress } from './throttle.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('the storm throttle passes an event on at once and then every five seconds during a storm', () => {
  const calls: number[] = []
  const storm = throttle(() => calls.push(performance.now()))
  const began = performance.now()
  for (let n = 0; n < 1100; n++) {
    storm()
    vi.advanceTimersByTime(10)
  }
  vi.advanceTimersByTime(60_000)
  expect(calls.map((at) => at - began)).toEqual([0, 5000, 10_000, 15_000])
})

it('the progress throttle passes progress on every 100 ms and the last one when the call ends', () => {
  const calls: number[] = []
  const throttled = throttleProgress(({ progress }) => calls.push(progress))
  for (let progress = 0; progress < 25; progress++) {
    throttled.report({ progress })
    vi.advanceTimersByTime(10)
  }
  expect(calls).toEqual([0, 9, 19])
  throttled.end()
  expect(calls).toEqual([0, 9, 19, 24])
})
