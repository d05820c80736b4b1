/** How far one answer goes, over HTTP: what is asked for, within what operators store, within what the server was started with. */
import { rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { startModelServer } from '@loadout/core/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createApp } from '../../src/http/app.ts'
import { agentOf, modelsOf } from '../../src/open-host.ts'
import { settingsOf } from '../../src/serve.ts'

let host: HostServices
let server: Awaited<ReturnType<typeof startModelServer>>
let app: ReturnType<typeof createApp>

beforeEach(async () => {
  const usage = { input: 100, output: 10 }
  server = await startModelServer(() => ({ calls: [{ name: 'mcp_app_note', arguments: {} }], usage }))
  const config = readConfig({
    LOADOUT_MODEL: 'openai:gpt-5.6',
    LOADOUT_MODEL_URL: server.baseUrl.openai,
    LOADOUT_MODEL_KEY: 'key-of-the-app',
    LOADOUT_MODELS: 'openai:gpt-*,anthropic:*',
    LOADOUT_MAX_STEPS_PER_ANSWER: '5',
    LOADOUT_MAX_TOKENS_PER_ANSWER: '400',
  })
  const tool = { name: 'note', description: 'Notes it.', inputSchema: { type: 'object' }, execute: () => 'noted' }
  host = createServices({
    policy: [rule('*', 'allow')],
    tools: [tool],
    agent: agentOf(() => modelsOf(host, config)),
  })
  app = createApp({
    host,
    models: modelsOf(host, config),
    settings: settingsOf(config),
    authenticate: ({ headers }) => ({
      kind: 'session',
      userId: 'ann',
      role: headers.has('x-op') ? 'operator' : 'user',
    }),
  })
  await ask('POST /api/threads', { id: 't' })
})
afterEach(async () => {
  await server.close()
  await host.close()
})

async function ask(route: `${string} ${string}`, body: unknown, more: object = {}): Promise<string> {
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'content-type': 'application/json', ...more }
  return (await app.request(path, { method, headers, body: JSON.stringify(body) })).text()
}
const allow = async (limits: object) => JSON.parse(await ask('PATCH /api/app/config', { limits }, { 'x-op': '1' }))

/** The last part that tells what a chat's answer took. */
async function chat(more: object): Promise<{ steps: number; stopped: string; limit: string }> {
  const lines = (await ask('POST /api/threads/t/messages', { message: 'Note it.', ...more })).split('\n')
  const reported = lines
    .filter((line) => line.includes('"data-usage"'))
    .map((line) => JSON.parse(line.slice('data: '.length)))
  return reported.at(-1).data
}
async function node(more: object): Promise<{ detail: string; action: string }> {
  const nodes = [{ id: 'g', type: 'agent', prompt: 'Note it.', tools: ['app.note'], ...more }]
  return JSON.parse(await ask('POST /api/workflow/invoke', { definition: { name: 'w', nodes } })).error
}

it('a chat gets the requested steps and tokens up to the allowed maximum', async () => {
  expect(await chat({ budget: 200 })).toMatchObject({
    steps: 2,
    stopped: 'budget',
    limit: 'The answer used its budget of 200 tokens before it had an answer. Raise "budget", or ask for less.',
  })
  expect(await chat({ budget: 100_000 })).toMatchObject({
    steps: 4,
    stopped: 'budget',
    limit: expect.stringMatching(/400 tokens.* a higher maxTokensPerAnswer\.$/),
  })
  expect((await allow({ maxStepsPerAnswer: 3, maxTokensPerAnswer: 1000 })).limits).toMatchObject({
    maxStepsPerAnswer: 3,
    maxTokensPerAnswer: 1000,
  })
  expect(await chat({ maxSteps: 100 })).toMatchObject({
    steps: 3,
    stopped: 'max-steps',
    limit: expect.stringMatching(/after 3 steps.* a higher maxStepsPerAnswer\.$/),
  })
  expect(await chat({ maxSteps: 2 })).toMatchObject({ steps: 2, limit: expect.stringContaining('Raise "maxSteps"') })
  // What operators store does not undo what the server was started with.
  await allow({ maxStepsPerAnswer: 100 })
  expect(await chat({ maxSteps: 100, budget: 100_000 })).toMatchObject({ steps: 4, stopped: 'budget' })
})

it('a workflow agent stays within the limits and its error names the budget, its value and the fix', async () => {
  expect(await node({ budget: 150 })).toMatchObject({
    message: "Node 'g' failed: The agent of 'g' used its budget of 150 tokens before it had an answer.",
    action: 'Raise "budget", or ask for less.',
  })
  expect(server.requests).toHaveLength(2)
  expect(await node({ budget: 100_000 })).toMatchObject({
    message: expect.stringContaining('400 tokens'),
    action: 'Ask for less, or ask the operator for a higher maxTokensPerAnswer.',
  })
  expect(server.requests).toHaveLength(6)
  await allow({ maxTokensPerAnswer: 100 })
  expect(await node({ budget: 100_000 })).toMatchObject({ message: expect.stringContaining('100 tokens') })
  expect(server.requests).toHaveLength(7)
})

it('the preflight check warns about each node field above the limit and names the limit that applies', async () => {
  const agent = (id: string, more: object) => ({ id, type: 'agent', prompt: 'Note it.', tools: ['app.note'], ...more })
  const nodes = [agent('more', { maxSteps: 40, budget: 900 }), agent('less', { maxSteps: 5, budget: 400 })]
  const { id } = JSON.parse(await ask('POST /api/workflows', { name: 'w', nodes }))
  const warnings = async () => JSON.parse(await ask(`POST /api/workflows/${id}/check`, {})).warnings
  expect(await warnings()).toEqual([
    "Node 'more' (nodes.0.maxSteps) asks for 40 steps, and the operator allows an answer 5: 5 will hold.",
    "Node 'more' (nodes.0.budget) asks for 900 tokens, and the operator allows an answer 400: 400 will hold.",
  ])
  await allow({ maxStepsPerAnswer: 3 })
  expect(await warnings()).toContain(
    "Node 'less' (nodes.1.maxSteps) asks for 5 steps, and the operator allows an answer 3: 3 will hold.",
  )
})

it('operators see the configured models and limits without the key, and other users get 403', async () => {
  const shown = async (headers: Record<string, string>) => (await app.request('/api/app/settings', { headers })).text()
  expect(JSON.parse(await shown({ 'x-op': '1' }))).toMatchObject({
    model: 'openai:gpt-5.6',
    models: ['openai:gpt-*', 'anthropic:*'],
    ceiling: { maxSteps: 5, budget: 400 },
  })
  expect(await shown({ 'x-op': '1' })).not.toContain('key-of-the-app')
  expect(JSON.parse(await shown({})).code).toBe('forbidden')
})

it('a budget of zero is rejected with its path', async () => {
  const { errors } = JSON.parse(
    await ask('POST /api/workflows', { name: 'w', nodes: [{ id: 'g', type: 'agent', prompt: 'x', budget: 0 }] }),
  )
  expect(errors).toMatchObject([{ path: 'nodes.0.budget' }])
  expect((await allow({ maxTokensPerAnswer: 0 })).errors).toMatchObject([{ path: 'limits.maxTokensPerAnswer' }])
})
