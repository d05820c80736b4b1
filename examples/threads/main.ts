/** The tools of a thread, and why each is available or not. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'
import { filter, prefix } from '@loadout/core/transformers'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  inputSchema: z.object({ order: z.string(), cents: z.number().int() }),
  annotations: { destructiveHint: true },
  execute: ({ order, cents }, { userId }) => ({ order, cents, by: userId }),
})
const orders = defineTool({
  name: 'orders',
  annotations: { readOnlyHint: true },
  execute: () => ['a-1', 'b-2'],
})

// The app's own functions, beside any MCP servers. Without a rule, tools that are not read-only need approval.
await using host = createHost({ toolkits: { tools: [refund, orders] }, policy: { rules: [rule('app', 'allow')] } })
const ann = host.user('ann')
const thread = ann.thread('support')

await thread.deactivate('app.refund') // off for this thread; no call turns it on
const available = (await thread.loadout()).tools.map((tool) => tool.modelName)

const denied = await thread.call({ name: 'app.refund', arguments: { order: 'a-1', cents: 100 } })
const reason = (await thread.explain()).find((item) => item.ref === 'app.refund')?.reasons.at(-1)

// Another thread, with transformers that filter and rename its tools.
const readOnly = ann.thread('read-only', {
  transform: [filter({ annotations: { readOnlyHint: true } }), prefix('shop_')],
})
const renamed = (await readOnly.loadout()).tools.map((tool) => tool.modelName)
//#endregion
assert.deepEqual(available, ['mcp_app_orders'])
assert.equal(denied.status, 'denied')
assert.equal(reason?.detail, 'Switched off at the thread tier by "app.refund".')
assert.deepEqual(renamed, ['mcp_app_shop_orders'])
const outcome = await ann.thread('other').call({ name: 'mcp_app_refund', arguments: { order: 'a-1', cents: 100 } })
assert.deepEqual('content' in outcome && outcome.structuredContent, { order: 'a-1', cents: 100, by: 'ann' })
