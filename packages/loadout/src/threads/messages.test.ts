import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServices, type HostServices } from '../host/create-services.ts'
import { newId } from '../schema/ids.ts'

let host: HostServices
beforeEach(async () => {
  host = createServices()
  await host.threads.create('ann', { id: 't' })
})
afterEach(() => host.close())

const text = (words: string) => [{ type: 'text', text: words }]
const texts = async (limit?: number) =>
  (await host.messages.list('ann', 't', limit === undefined ? {} : { limit })).map(({ parts }) => parts[0]?.text)

describe('thread messages', () => {
  it('are stored in order and listed newest first in pages', async () => {
    for (const words of ['one', 'two', 'three'])
      await host.messages.add('ann', 't', { role: 'user', parts: text(words) })
    expect(await texts()).toEqual(['three', 'two', 'one'])
    const [last] = await host.messages.list('ann', 't', { limit: 1 })
    const rest = await host.messages.list('ann', 't', { after: last?.id })
    expect(rest.map(({ parts }) => parts[0]?.text)).toEqual(['two', 'one'])
  })

  it('update the last-used time of the thread', async () => {
    const before = await host.threads.get('ann', 't')
    const { createdAt } = await host.messages.add('ann', 't', { role: 'user', parts: text('one') })
    const after = await host.threads.get('ann', 't')
    expect(after.updatedAt.toISOString()).toBe(createdAt)
    expect(after.createdAt).toEqual(before.createdAt)
  })

  it('are all stored when added concurrently', async () => {
    const many = Array.from({ length: 12 }, (_, i) => String(i))
    await Promise.all(many.map((words) => host.messages.add('ann', 't', { role: 'user', parts: text(words) })))
    expect((await texts()).sort()).toEqual(many.sort())
  })

  it('keep an answer in its place if it started before later messages', async () => {
    const [first, answer, second, third] = Array.from({ length: 4 }, () => newId('message'))
    for (const id of [first, second, answer, third])
      await host.messages.add('ann', 't', { id, role: 'user', parts: text(id ?? '') })
    expect(await texts()).toEqual([third, second, answer, first])
  })

  it('are private to their user and deleted with the thread', async () => {
    await host.messages.add('ann', 't', { role: 'user', parts: text('one') })
    for (const act of [
      () => host.messages.list('bob', 't'),
      () => host.messages.clear('bob', 't'),
      () => host.messages.add('bob', 't', { role: 'user', parts: text('x') }),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'not-found' })
    await host.threads.create('bob', { id: 't' })
    expect(await host.messages.list('bob', 't')).toEqual([])
    await host.threads.delete('ann', 't')
    await host.threads.create('ann', { id: 't' })
    expect(await texts()).toEqual([])
  })

  it('are truncated or replaced with a notice when they are too large', async () => {
    const large = await host.messages.add('ann', 't', { role: 'assistant', parts: text('x'.repeat(2_000_000)) })
    expect(String(large.parts[0]?.text)).toHaveLength(20_000 + ' … (cut)'.length)
    const pieces = Array.from({ length: 200 }, () => text('y'.repeat(20_000))).flat()
    const many = await host.messages.add('ann', 't', { role: 'assistant', parts: pieces })
    expect(many.parts).toEqual(text('(This message was too large to be kept.)'))
    const small = await host.messages.add('ann', 't', { role: 'user', parts: text('x'.repeat(500_000)) })
    expect(String(small.parts[0]?.text)).toHaveLength(500_000)
  })
})
