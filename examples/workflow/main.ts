/** A workflow in code: nodes wait for what they name, a map runs one for each item, and a person is asked before it is sent. */
import assert from 'node:assert/strict'
//#region example
import { defineWorkflow, rule } from '@loadout/core'
import { createServices } from '@loadout/core/services'

const tool = (name: string, execute: (input: Record<string, unknown>) => unknown) => ({
  name,
  description: `The tool ${name}.`,
  execute,
  inputSchema: { type: 'object' },
})
const web = [
  tool('search', ({ query }) => ({ items: [1, 2, 3].map((n) => ({ url: `https://a.example/${query}/${n}` })) })),
  tool('read', ({ url }) => `The page ${url}`),
]
const report = defineWorkflow({
  name: 'report',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  nodes: [
    { id: 'find', type: 'tool', ref: 'web.search', arguments: { query: '{{ input.city }}' } },
    { id: 'each', type: 'map', over: 'nodes.find.output.items', node: 'page', concurrency: 2 },
    { id: 'page', type: 'tool', ref: 'web.read', arguments: { url: '{{ item.url }}' }, onError: 'continue' },
    { id: 'ok', type: 'approval', message: 'Send {{ size(nodes.each.output) }} pages about {{ input.city }}?' },
    { id: 'send', type: 'tool', ref: 'mail.send', arguments: { pages: '{{ nodes.each.output }}' }, after: ['ok'] },
  ],
})

await using host = createServices({ policy: [rule('*', 'allow')] })
await host.ready()
await host.toolkits.register({ id: 'web', name: 'Web', tools: web }, { tier: 'app' })
const mail = [tool('send', ({ pages }) => ({ sent: (pages as string[]).length }))]
await host.toolkits.register({ id: 'mail', name: 'Mail', tools: mail }, { tier: 'app' })

const { id: workflowId } = await host.workflows.create('ann', report)
const ahead = await host.workflows.check('ann', { workflowId })
const paused = await host.workflows.run('ann', { workflowId, input: { city: 'rome' } })

// It holds nothing while it waits; the answer goes on with it, in whichever process that is.
const [question] = await host.approvals.list('ann', { status: 'pending' })
await host.approvals.answer('ann', question?.id ?? '', { decision: 'allow' })
const done = await host.runs.settled('ann', paused.id)
//#endregion
assert.deepEqual(ahead.problems, [])
assert.deepEqual([paused.status, question?.reason], ['paused', 'Send 3 pages about rome?'])
assert.deepEqual([done.status, done.output], ['completed', { sent: 3 }])
