/** An agent with a user's own model key and the tools of a thread. A scripted model replaces the real one. */
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

const ann = host.user('ann')
const models = createModels({ host, model: 'anthropic:claude-opus-5-5', baseUrls })
await models.saveKey('ann', 'anthropic', 'sk-of-ann') // encrypted; used before the app's key

const { output, usage, stopped } = await agent({
  ...(await models.open('ann')),
  tools: ann.thread('support'),
  prompt: 'Refund the first order.',
  maxSteps: 8,
  budget: 50_000, // tokens of all steps
  onPending: (_, approval) => ann.approvals.allow(approval.id),
})
//#endregion
server.done()
await server.close()
assert.equal(output, 'a-1 is paid back.')
assert.deepEqual([stopped, usage.totalTokens], ['done', 1070])
assert.equal(server.requests[0]?.headers['x-api-key'], 'sk-of-ann')
