/** What a conversation carries, and why. */
import assert from 'node:assert/strict'
//#region example
import { defineTool, rule } from '@loadout/core'
import { createServices } from '@loadout/core/services'
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

// The app's own functions, beside any MCP servers. Without a rule, a tool that does not say that it only reads asks.
await using host = createServices({ tools: [refund, orders], policy: [rule('app', 'allow')] })
const thread = host.thread({ userId: 'ann', threadId: 'support' })

await thread.deactivate('app.refund') // a tombstone: no call of this thread undoes it
const carried = (await thread.loadout()).tools.map((tool) => tool.modelName)

const denied = await thread.call({ name: 'app.refund', arguments: { order: 'a-1', cents: 100 } })
const why = (await thread.explain()).find((item) => item.ref === 'app.refund')?.reasons.at(-1)

// Another thread of hers, which shows its tools in its own way.
const careful = host.thread(
  { userId: 'ann', threadId: 'careful' },
  { transform: [filter({ annotations: { readOnlyHint: true } }), prefix('shop_')] },
)
const shown = (await careful.loadout()).tools.map((tool) => tool.modelName)
//#endregion
assert.deepEqual(carried, ['mcp_app_orders'])
assert.equal(denied.status, 'denied')
assert.equal(why?.detail, 'Switched off at the thread tier by "app.refund".')
assert.deepEqual(shown, ['mcp_app_shop_orders'])
const done = await host.thread({ userId: 'ann', threadId: 'other' }).call({
  name: 'mcp_app_refund',
  arguments: { order: 'a-1', cents: 100 },
})
assert.deepEqual('content' in done && done.structuredContent, { order: 'a-1', cents: 100, by: 'ann' })
