import { expect, it } from 'vitest'
import { FairSemaphore, type SlotRequest } from './fair-semaphore.ts'

interface Request extends SlotRequest {
  key?: string
  name: string
  priority?: number
}

const create = () =>
  new FairSemaphore<Request>({
    keyOf: ({ key }) => key,
    isFree: (_, { total, used }) => total < 2 && used < 1,
    priority: ({ priority = 0 }) => priority,
  })
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

it('a released slot goes to the highest priority, then in arrival order, past keys at their limit', async () => {
  const slots = create()
  const names: string[] = []
  const enter = (request: Request) => void slots.acquire(request).then(() => names.push(request.name))
  const ann = { key: 'ann', name: 'ann 1' }
  enter(ann)
  enter({ name: 'shared' })
  enter({ key: 'ann', name: 'ann 2' })
  enter({ name: 'late' })
  enter({ name: 'urgent', priority: 1 })
  enter({ name: 'later' })
  await turn()
  expect(names).toEqual(['ann 1', 'shared'])
  slots.release({ name: 'shared' })
  slots.release({ name: 'urgent' })
  slots.release({ name: 'late' })
  await turn()
  expect(names.slice(2)).toEqual(['urgent', 'late', 'later'])
  slots.release(ann)
  await turn()
  expect([names.at(-1), slots.used('ann'), slots.waiting()]).toEqual(['ann 2', 1, []])
})

it('an aborted wait rejects with the reason and takes no slot, also if it aborted before', async () => {
  const slots = create()
  for (const name of ['a', 'b']) await slots.acquire({ name })
  const controller = new AbortController()
  const waiting = slots.acquire({ name: 'c', signal: controller.signal })
  controller.abort('gone')
  await expect(waiting).rejects.toBe('gone')
  await expect(slots.acquire({ name: 'd', signal: controller.signal })).rejects.toBe('gone')
  slots.release({ name: 'a' })
  expect([slots.waiting(), slots.tryAcquire({ name: 'e' }), slots.tryAcquire({ name: 'f' })]).toEqual([[], true, false])
})
