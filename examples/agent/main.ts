/** An agent with a user's own key and the tools of a thread. A scripted model stands in for the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'mcp_shop_orders' }], usage: { input: 300, output: 20 } } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }], usage: { input: 340, output: 20 } } },
  { answer: { text: 'a-1 is paid back.', usage: { input: 380, output: 10 } } },
])
const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
await using host = await openShop({ ask: ['shop.refund'] })

//#region example
import { agent, createModels } from '@loadout/core/agents'

const models = createModels({ ...host, model: 'anthropic:claude-opus-5-5', baseUrls })
await models.saveKey('ann', 'anthropic', 'sk-of-ann') // in the credential store; used before the app's

const { output, usage, stopped } = await agent({
  ...(await models.open('ann')),
  tools: host.thread({ userId: 'ann', threadId: 'support' }),
  prompt: 'Refund the first order.',
  maxSteps: 8,
  budget: 50_000, // tokens, of all steps
  onPending: (_, approval) => host.approvals.answer('ann', approval.id, { decision: 'allow' }),
})
//#endregion
server.done()
await server.close()
assert.equal(output, 'a-1 is paid back.')
assert.deepEqual([stopped, usage.totalTokens], ['done', 1070])
assert.equal(server.requests[0]?.headers['x-api-key'], 'sk-of-ann')
