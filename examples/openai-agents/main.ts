/** An agent of the OpenAI Agents SDK whose second call needs approval. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'mcp_shop_orders', arguments: {} }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
await using host = await openShop({ ask: ['shop.refund'] })
const ann = host.user('ann')
const modelProvider = new OpenAIProvider({ apiKey: 'key', baseURL: server.baseUrl.openai, useResponses: false })

//#region example
import { toOpenAIAgents } from '@loadout/core/openai-agents'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'

const prompt = 'Which orders are there? Refund the first.'
const selection = await ann.thread('support').select({ prompt })
const { tools } = toOpenAIAgents(selection, {
  // Show it to the user; the call waits for the answer.
  onPending: (_toolCallId, approval) => void ann.approvals.allow(approval.id),
})
const agent = new Agent({ name: 'Support', model: 'gpt-5.6', tools })
const { finalOutput } = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, prompt)
//#endregion
server.done()
await server.close()
assert.equal(finalOutput, 'The money is on its way.')
assert.match(JSON.stringify(server.requests.at(-1)?.history), /a-1 is paid back/)
