/** Anthropic's SDK with deferred tools: Loadout's search answers with references. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'

const model = await startModelServer([
  { answer: { calls: [{ name: 'search_tools', arguments: { query: 'give money back' } }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const connection = { apiKey: 'key', baseURL: model.baseUrl.anthropic }

//#region example
import Anthropic from '@anthropic-ai/sdk'
import { createHost, defineTool, rule } from '@loadout/core'
import { answerAnthropic, callAll, readAnthropic, toAnthropic, withoutLost } from '@loadout/core/ai/anthropic'
import { z } from 'zod'

const shop = {
  name: 'shop',
  tools: [
    defineTool({ name: 'orders', description: 'Lists orders.', execute: () => ['a-1', 'b-2'] }),
    defineTool({
      name: 'refund',
      description: 'Gives the money of an order back.',
      inputSchema: z.object({ order: z.string() }),
      execute: ({ order }) => `${order} is paid back.`,
    }),
  ],
}

await using host = createHost({ policy: { rules: [rule('*', 'allow')] } })
await host.toolkits.add(shop)
const thread = host.user('ann').thread('support')
const client = new Anthropic(connection)

const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Which orders are there? Cancel the first.' }]
let selection = await thread.select({ prompt: 'Which orders are there?', limit: 1 })
for (;;) {
  const { tools } = toAnthropic(selection, { messages })
  const { content } = await client.messages.create({
    model: 'claude-opus-5-5',
    max_tokens: 1000,
    tools,
    // Without references to tools that were removed.
    messages: withoutLost(messages, tools),
  })
  messages.push({ role: 'assistant', content })
  const { calls } = readAnthropic(selection, content)
  if (calls.length === 0) break
  messages.push(answerAnthropic(selection, await callAll(calls, selection.call)))
  selection = selection.next() // with the found tools
}
//#endregion
model.done()
await model.close()
assert.deepEqual(
  model.requests.map(({ toolNames }) => toolNames),
  [
    ['read_result', 'search_tools', 'mcp_shop_orders'],
    ['read_result', 'search_tools', 'mcp_shop_orders', 'mcp_shop_refund'],
    ['read_result', 'search_tools', 'mcp_shop_orders', 'mcp_shop_refund'],
  ],
)
assert.deepEqual(model.requests[1]?.deferredNames, ['mcp_shop_refund'])
assert.match(JSON.stringify(messages), /a-1 is paid back/)
