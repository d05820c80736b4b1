import { afterEach, describe, expect, it, vi } from 'vitest'
import { onAbort, sleep, withTimeout } from './abort.ts'

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

describe('withTimeout', () => {
  it('returns the result, or undefined when the work takes too long, and leaves no timer', async () => {
    vi.useFakeTimers()
    expect(await withTimeout(Promise.resolve(1), 1000)).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
    const { promise, reject } = Promise.withResolvers<number>()
    const outcome = withTimeout(promise, 1000)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await outcome).toBeUndefined()
    reject(new Error('ignored after the timeout'))
  })

  it('passes on a failure of the work', async () => {
    await expect(withTimeout(Promise.reject(new Error('broken')), 1000)).rejects.toThrow('broken')
  })
})
