/** Agent nodes of workflows within a token budget, on models that the app pays for. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { defineTool } from '@loadout/core'
import { startModelServer } from '@loadout/core/testing'

const usage = { input: 400, output: 20 }
const server = await startModelServer(() => ({ calls: [{ name: 'mcp_app_orders', arguments: {} }], usage }))
const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
const tools = [defineTool({ name: 'orders', description: 'Lists orders.', execute: () => ['a-1', 'b-2'] })]

//#region example
import { createHost, type Host, rule } from '@loadout/core'
import { createModels, nodeAgent } from '@loadout/core/agents'

// The models belong to the host, so the agent opens them after the host exists.
const agent = nodeAgent({ models: { open: (...args) => models.open(...args) } })
await using host: Host = createHost({ agent, toolkits: { tools }, policy: { rules: [rule('*', 'allow')] } })
const models = createModels({
  host,
  baseUrls,
  keys: { anthropic: 'sk-of-the-app' },
  model: 'anthropic:claude-sonnet-4-5',
  appModels: ['anthropic:claude-haiku-*'], // more models that the app's key is for
  ceiling: { maxSteps: 20, budget: 50_000 }, // upper limits per answer
})
const ann = host.user('ann')

const report = (options: { budget?: number; model?: string }) => ({
  name: 'report',
  nodes: [{ id: 'sum', type: 'agent' as const, prompt: 'Sum the orders up.', tools: ['app.orders'], ...options }],
})
const run = await ann.workflows.run(report({ budget: 1000 })) // fails: the budget is too small
const preflight = await ann.workflows.check(report({ model: 'anthropic:claude-opus-5-5' }))
//#endregion
await server.close()
assert.equal(server.requests.length, 3)
assert.deepEqual(
  [run.status, run.error?.message, run.error?.action],
  [
    'failed',
    "Node 'sum' failed: The agent of 'sum' used its budget of 1000 tokens before it had an answer.",
    'Raise "budget", or ask for less.',
  ],
)
assert.deepEqual(
  preflight.problems.map(({ node, message }) => [node, message]),
  [
    [
      'sum',
      "Node 'sum': The app's key is not for 'anthropic:claude-opus-5-5'. It is for: anthropic:claude-sonnet-4-5, anthropic:claude-haiku-*.",
    ],
  ],
)
