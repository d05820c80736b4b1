/** From a call that went well to a search that knows: through a whole host. */
import { expect, it } from 'vitest'
import { createServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import type { SearchSetup } from '../../src/search/create-search.ts'
import { memory } from '../../src/storage/memory.ts'
import { defineTool } from '../../src/toolkits/define-tool.ts'

const TOOLS = [
  defineTool({ name: 'write', description: 'Brings a letter.', execute: () => 'sent' }),
  defineTool({ name: 'look', description: 'Says the forecast.', execute: () => 'rain' }),
  defineTool({
    name: 'fail',
    description: 'Fails.',
    execute: () => {
      throw new Error('no')
    },
  }),
]
const ann = { userId: 'ann', threadId: 'one' }

function world(search: SearchSetup = {}) {
  const storage = memory()
  const host = createServices({
    storage,
    tools: TOOLS,
    policy: [rule('*', 'allow')],
    search: { vectors: false, ...search },
  })
  const refs = async (userId: string, text: string) => (await host.search({ userId }, text)).tools.map(({ ref }) => ref)
  const rows = () => storage.transaction({ userId: 'ann' }, (tx) => tx.list('toolUses'))
  return { host, refs, rows }
}

it('the prompt of a successful call finds its tool for the same user', async () => {
  const { host, refs } = world()
  const thread = host.thread(ann)
  const { status } = await thread.call({ name: 'app.write', arguments: {}, prompt: 'tell them about the picnic' })
  expect(status).toBe('ok')
  await thread.call({ name: 'app.fail', arguments: {}, prompt: 'zebra' })
  await expect.poll(() => refs('ann', 'picnic')).toEqual(['app.write'])
  expect(await refs('bob', 'picnic')).toEqual([])
  expect(await refs('ann', 'zebra')).toEqual([])
  await host.preferences.update('ann', { learnFromUse: false })
  expect(await refs('ann', 'picnic')).toEqual([])
  await host.close()
})

it('a model call after a prompt is learned with that prompt', async () => {
  const { host, rows } = world()
  const selection = await host.thread(ann).select({ prompt: 'a letter for the picnic' })
  await selection.call({ name: 'app.write', arguments: {} })
  await expect.poll(rows).toMatchObject([{ tool: 'write', successes: 1 }])
  expect((await rows())[0]?.examplesJson).toMatchObject([{ text: 'a letter for the picnic' }])
  await host.close()
})

it('a caller cannot search with the usage of another user', async () => {
  const { host, refs } = world()
  await host.thread(ann).call({ name: 'app.write', arguments: {}, prompt: 'picnic' })
  await expect.poll(() => refs('ann', 'picnic')).toEqual(['app.write'])
  const { tools } = await host.search({ userId: 'bob' }, 'picnic', { userId: 'ann' } as never)
  expect(tools).toEqual([])
  await host.close()
})

it('removing a user deletes learned usage, even if it is not yet written', async () => {
  const { host, rows } = world()
  await host.thread(ann).call({ name: 'app.write', arguments: {}, prompt: 'picnic' })
  await host.users.remove('ann')
  await new Promise((resolve) => setTimeout(resolve, 1300))
  expect(await rows()).toEqual([])
  await host.close()
})

it('nothing is learned when the app turns learning off', async () => {
  const { host, rows } = world({ learn: false })
  await host.thread(ann).call({ name: 'app.write', arguments: {}, prompt: 'picnic' })
  await new Promise((resolve) => setTimeout(resolve, 1300))
  expect(await rows()).toEqual([])
  await host.close()
})
