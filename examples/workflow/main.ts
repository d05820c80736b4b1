/** A workflow in code: nodes wait for the nodes that they name, a map runs a node per item, and a person approves before mail is sent. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, defineWorkflow, rule } from '@loadout/core'
import { z } from 'zod'

const web = [
  defineTool({
    name: 'search',
    inputSchema: z.object({ query: z.string() }),
    execute: ({ query }) => ({ items: [1, 2, 3].map((n) => ({ url: `https://a.example/${query}/${n}` })) }),
  }),
  defineTool({
    name: 'read',
    inputSchema: z.object({ url: z.string() }),
    execute: ({ url }) => `The page ${url}`,
  }),
]
const send = defineTool({
  name: 'send',
  inputSchema: z.object({ pages: z.array(z.string()) }),
  execute: ({ pages }) => ({ sent: pages.length }),
})
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

await using host = createHost({ policy: { rules: [rule('*', 'allow')] } })
await host.toolkits.add({ name: 'web', tools: web })
await host.toolkits.add({ name: 'mail', tools: [send] })
const ann = host.user('ann')

const { id } = await ann.workflows.create(report)
const preflight = await ann.workflows.check(id)
const paused = await ann.workflows.run(id, { city: 'rome' })

// A paused run uses no memory or connection. After the approval, any process continues it.
const [approval] = await ann.approvals.list({ status: 'pending' })
if (approval) await ann.approvals.allow(approval.id)
const finished = await ann.runs.wait(paused.id)
//#endregion
assert.deepEqual(preflight.problems, [])
assert.deepEqual([paused.status, approval?.reason], ['paused', 'Send 3 pages about rome?'])
assert.deepEqual([finished.status, finished.output], ['completed', { sent: 3 }])
