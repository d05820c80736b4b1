/** The AI SDK with tools that wait, found by our search. A scripted model stands in for the real one. */
import assert from 'node:assert/strict'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createHost, rule } from 'loadout'
import { startModelServer } from 'loadout/testing'

const server = await startModelServer([
  { answer: { calls: [{ name: 'search_tools', arguments: { query: 'give money back' } }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const model = createAnthropic({ apiKey: 'key', baseURL: server.baseUrl.aiSdkAnthropic })('claude-opus-5-5')
const order = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
const shop = {
  name: 'shop',
  tools: [
    { name: 'orders', description: 'Lists orders.', inputSchema: { type: 'object' }, execute: () => ['a-1', 'b-2'] },
    {
      ...{ name: 'refund', description: 'Gives the money of an order back.', inputSchema: order },
      execute: ({ order }: { order: string }) => `${order} is paid back.`,
    },
  ],
}
await using host = createHost({ policy: [rule('*', 'allow')] })
await host.toolkits.register(shop, { tier: 'app' })
const thread = host.thread({ userId: 'ann', threadId: 'support' })

//#region example
import { generateText, isStepCount } from 'ai'
import { toAI } from 'loadout/ai'

const prompt = 'Which orders are there? Cancel the first.'
const selection = await thread.resolve({ prompt: 'Which orders are there?', limit: 1 })
const { text } = await generateText({ model, prompt, stopWhen: isStepCount(10), ...toAI(selection) })
//#endregion
server.done()
await server.close()
assert.equal(text, 'The money is on its way.')
assert.deepEqual(
  server.requests.map(({ toolNames }) => toolNames.toSorted()),
  [
    ['mcp_shop_orders', 'search_tools'],
    ['mcp_shop_orders', 'mcp_shop_refund', 'search_tools'],
    ['mcp_shop_orders', 'mcp_shop_refund', 'search_tools'],
  ],
)
assert.match(JSON.stringify(server.requests[2]?.history), /a-1 is paid back/)
