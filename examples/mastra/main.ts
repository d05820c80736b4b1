/** A Mastra agent whose second call needs approval. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'mcp_shop_orders', arguments: {} }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const model = { id: 'openai/gpt-5.6' as const, url: server.baseUrl.openai, apiKey: 'key' }
await using host = await openShop({ ask: ['shop.refund'] })
const ann = host.user('ann')

//#region example
import { toMastra } from '@loadout/core/mastra'
import { Agent } from '@mastra/core/agent'

const prompt = 'Which orders are there? Refund the first.'
const selection = await ann.thread('support').select({ prompt })
const { tools, prepareStep } = toMastra(selection, {
  // Show it to the user; the call waits for the answer.
  onPending: (_toolCallId, approval) => void ann.approvals.allow(approval.id),
})
const agent = new Agent({ id: 'support', name: 'Support', instructions: 'You help customers.', model, tools })
const { text } = await agent.generate(prompt, { prepareStep, maxSteps: 10 })
//#endregion
server.done()
await server.close()
assert.equal(text, 'The money is on its way.')
assert.match(JSON.stringify(server.requests.at(-1)?.history), /a-1 is paid back/)
