/** A LangChain agent whose second call needs approval. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'mcp_shop_orders', arguments: {} }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const connection = { apiKey: 'key', configuration: { baseURL: server.baseUrl.openai } }
await using host = await openShop({ ask: ['shop.refund'] })
const ann = host.user('ann')

//#region example
import { ChatOpenAI } from '@langchain/openai'
import { toLangChain } from '@loadout/core/langchain'
import { createAgent } from 'langchain'

const prompt = 'Which orders are there? Refund the first.'
const selection = await ann.thread('support').select({ prompt })
const { tools, middleware } = toLangChain(selection, {
  // Show it to the user; the call waits for the answer.
  onPending: (_toolCallId, approval) => void ann.approvals.allow(approval.id),
})
const agent = createAgent({ model: new ChatOpenAI({ model: 'gpt-5.6', ...connection }), tools, middleware })
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] })
//#endregion
server.done()
await server.close()
assert.equal(messages.at(-1)?.text, 'The money is on its way.')
assert.match(JSON.stringify(server.requests.at(-1)?.history), /a-1 is paid back/)
