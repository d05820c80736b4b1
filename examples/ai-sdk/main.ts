/** The AI SDK with deferred tools, which Loadout's search finds. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { createAnthropic } from '@ai-sdk/anthropic'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'search_tools', arguments: { query: 'give money back' } }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const model = createAnthropic({ apiKey: 'key', baseURL: server.baseUrl.aiSdkAnthropic })('claude-opus-5-5')
await using host = await openShop()
const thread = host.user('ann').thread('support')

//#region example
import { toAI } from '@loadout/core/ai'
import { generateText, isStepCount } from 'ai'

const prompt = 'Which orders are there? Cancel the first.'
const selection = await thread.select({ prompt: 'Which orders are there?', limit: 1 })
const { text } = await generateText({ model, prompt, stopWhen: isStepCount(10), ...toAI(selection) })
//#endregion
server.done()
await server.close()
assert.equal(text, 'The money is on its way.')
assert.deepEqual(
  server.requests.map(({ toolNames }) => toolNames.toSorted()),
  [
    ['mcp_shop_orders', 'read_result', 'search_tools'],
    ['mcp_shop_orders', 'mcp_shop_refund', 'read_result', 'search_tools'],
    ['mcp_shop_orders', 'mcp_shop_refund', 'read_result', 'search_tools'],
  ],
)
assert.match(JSON.stringify(server.requests[2]?.history), /a-1 is paid back/)
