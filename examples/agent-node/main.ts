/** Agents in workflows within a budget, on the models that the app pays for. A scripted model stands in for the real one. */
import assert from 'node:assert/strict'
import { defineTool } from '@loadout/core'
import { startModelServer } from '@loadout/core/testing'

const usage = { input: 400, output: 20 }
const server = await startModelServer(() => ({ calls: [{ name: 'mcp_app_orders', arguments: {} }], usage }))
const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
const tools = [defineTool({ name: 'orders', description: 'Lists orders.', execute: () => ['a-1', 'b-2'] })]

//#region example
import { rule } from '@loadout/core'
import { createModels, nodeAgent } from '@loadout/core/agents'
import { createServices, type HostServices } from '@loadout/core/services'

// The models are the host's: they are asked for once it is there.
const agent = nodeAgent({ models: { open: (...given) => models.open(...given) } })
await using host: HostServices = createServices({ agent, tools, policy: [rule('*', 'allow')] })
const models = createModels({
  ...host,
  baseUrls,
  keys: { anthropic: 'sk-of-the-app' },
  model: 'anthropic:claude-sonnet-4-5',
  appModels: ['anthropic:claude-haiku-*'], // what the app's key is for beside it
  ceiling: { maxSteps: 20, budget: 50_000 }, // of each answer, whoever asks for how much
})

const report = (more: object) => ({
  name: 'report',
  nodes: [{ id: 'sum', type: 'agent', prompt: 'Sum the orders up.', tools: ['app.orders'], ...more }],
})
const spent = await host.workflows.run('ann', { definition: report({ budget: 1000 }) })
const ahead = await host.workflows.check('ann', { definition: report({ model: 'anthropic:claude-opus-5-5' }) })
//#endregion
await server.close()
assert.equal(server.requests.length, 3)
assert.deepEqual(
  [spent.status, spent.error?.message, spent.error?.action],
  [
    'failed',
    "Node 'sum' failed: The agent of 'sum' used its budget of 1000 tokens before it had an answer.",
    'Raise "budget", or ask for less.',
  ],
)
assert.deepEqual(
  ahead.problems.map(({ node, message }) => [node, message]),
  [
    [
      'sum',
      "Node 'sum': The app's key is not for 'anthropic:claude-opus-5-5'. It is for: anthropic:claude-sonnet-4-5, anthropic:claude-haiku-*.",
    ],
  ],
)
