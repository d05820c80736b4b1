import { afterEach, describe, expect, it, vi } from 'vitest'
import { onAbort, sleep } from './abort.ts'

afterEach(() => vi.useRealTimers())

describe('sleep', () => {
  it('ends after its time and not before', async () => {
    vi.useFakeTimers()
    const states: string[] = []
    const ended = sleep(1000).then(() => states.push('ended'))
    await vi.advanceTimersByTimeAsync(999)
    expect(states).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await ended
    expect(states).toEqual(['ended'])
  })

  it('ends at once when its signal aborts, also if it aborted before', async () => {
    const controller = new AbortController()
    const ended = sleep(2 ** 30, { signal: controller.signal })
    controller.abort()
    await ended
    await sleep(2 ** 30, { signal: controller.signal })
  })
})

describe('onAbort', () => {
  it('runs its listener once and stops listening', () => {
    const controller = new AbortController()
    const listener = vi.fn()
    onAbort(controller.signal, listener)
    const stopped = vi.fn()
    onAbort(controller.signal, stopped)()
    controller.abort()
    expect([listener.mock.calls.length, stopped.mock.calls.length]).toEqual([1, 0])
    onAbort(controller.signal, listener)
    expect(listener).toHaveBeenCalledTimes(2)
  })
})
