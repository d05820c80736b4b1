import { expect, it } from 'vitest'
import { RefreshQueue } from './refresh-queue.ts'

/** Work whose ends the test decides. */
function controlled() {
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const work = (name: string) => () => {
    started.push(name)
    const end = Promise.withResolvers<void>()
    ends.set(name, end)
    return end.promise
  }
  return {
    started,
    work,
    end: (name: string) => ends.get(name)?.resolve(),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  }
}

it('the refresh queue limits concurrent refreshes and keeps their order, even after a failure', async () => {
  const queue = new RefreshQueue(2)
  const { started, work, end, fail } = controlled()
  const done = ['a', 'b', 'c', 'd'].map((name) => queue.add(name, work(name)))
  expect(started).toEqual(['a', 'b'])
  fail('a')
  expect(await done[0]).toBe(false)
  expect(started).toEqual(['a', 'b', 'c'])
  end('b')
  expect(await done[1]).toBe(true)
  expect(started).toEqual(['a', 'b', 'c', 'd'])
})

it('the refresh queue contains a toolkit once when many readers find it stale', async () => {
  const queue = new RefreshQueue(1)
  const { started, work, end } = controlled()
  const first = queue.add('busy', work('busy'))
  const twice = [queue.add('a', work('a')), queue.add('a', work('a'))]
  end('busy')
  await first
  expect(started).toEqual(['busy', 'a'])
  end('a')
  expect(await Promise.all(twice)).toEqual([true, true])
  expect(started).toEqual(['busy', 'a'])
})

it('the refresh queue skips a toolkit that was refreshed meanwhile', async () => {
  const queue = new RefreshQueue(1)
  const { started, work, end } = controlled()
  const first = queue.add('busy', work('busy'))
  const waiting = queue.add('a', work('a'))
  queue.replace('a', Promise.resolve())
  expect(await waiting).toBe(true)
  end('busy')
  await first
  expect(started).toEqual(['busy'])
})
