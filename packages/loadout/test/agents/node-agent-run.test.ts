/** Agent nodes in whole workflows: a model over HTTP, a person who answers later, and nothing asked or called twice. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createModels } from '../../src/agents/models.ts'
import { nodeAgent } from '../../src/agents/node-agent.ts'
import type { ModelRequest, ModelScript } from '../../src/testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'
import { openWorkflowHost, type WorkflowHost } from '../fixtures/workflow-host.ts'

let world: WorkflowHost
let server: ModelServer
beforeEach(async () => {
  world = await openWorkflowHost()
})
afterEach(async () => {
  await world.host.close()
  await server.close()
})

async function model(script: ModelScript) {
  server = await startModelServer(script)
  const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
  const { credentials, storage, app } = world.host
  const options = { credentials, storage, app, baseUrls, keys: { anthropic: 'k' }, model: 'anthropic:claude-opus-5-5' }
  world.agent = nodeAgent({ models: createModels(options) })
}

const node = { id: 'g', type: 'agent', prompt: 'Do {{ input.what }}', tools: ['kit.write', 'kit.ask_*'] }
const historyText = ({ history }: ModelRequest) => JSON.stringify(history)

it('an agent node waits for an approval and continues without repeating model or tool calls', async () => {
  await model([
    { answer: { calls: [{ name: 'mcp_kit_write', arguments: { n: 1 } }], usage: { input: 10, output: 1 } } },
    { answer: { calls: [{ name: 'mcp_kit_ask_me', arguments: {} }], usage: { input: 10, output: 1 } } },
    {
      expect: (request) => expect(historyText(request)).toContain('asked'),
      answer: { text: 'All done.', usage: { input: 10, output: 1 } },
    },
  ])
  const paused = await world.run([node], { input: { what: 'it' } })
  expect([paused.status, server.requests.length]).toEqual(['paused', 2])
  expect(historyText(server.requests[0] as ModelRequest)).toContain('Do it')
  const done = await world.answer(paused, 'allow')
  expect(done).toMatchObject({ status: 'completed', usage: { inputTokens: 30, outputTokens: 3, calls: 2 } })
  expect(JSON.stringify(done.output)).toContain('All done.')
  expect(world.made).toEqual(['write{"n":1}', 'ask_me{}'])
  server.done()
})

it('a tool that the node does not list is unavailable, and the model gets the error', async () => {
  await model([
    {
      expect: ({ toolNames }) => expect(toolNames).not.toContain('mcp_kit_get'),
      answer: { calls: [{ name: 'mcp_kit_get', arguments: {}, madeUp: true }] },
    },
    { answer: 'I may not.' },
  ])
  expect((await world.run([node], { input: { what: 'it' } })).status).toBe('completed')
  expect(world.made).toEqual([])
})

const SUBJECTS = [
  'invoices',
  'weather',
  'trains',
  'recipes',
  'parcels',
  'meetings',
  'photos',
  'songs',
  'plants',
  'tides',
]
const VERBS = ['archive', 'count', 'draw', 'print']
const registerMany = async (made: string[]) => {
  await world.host.app.update({ defaults: { deferAboveTokens: 0 } })
  await world.host.toolkits.register(
    {
      name: 'big',
      tools: SUBJECTS.flatMap((subject) =>
        VERBS.map((verb) => ({
          name: `ask_${verb}_${subject}`,
          description: `Will ${verb} the ${subject} of somebody.`,
          inputSchema: { type: 'object', properties: { of: { type: 'string', description: 'Whose they are' } } },
          execute: () => {
            made.push(`${verb} ${subject}`)
            return `${subject} done`
          },
        })),
      ),
    },
    { tier: 'user', userId: 'ann' },
  )
}

it('an agent node finds deferred tools and has them from the next step on, also after an approval', async () => {
  const made: string[] = []
  await registerMany(made)
  const search = { name: 'search_tools', arguments: { query: 'draw tides', limit: 2 } }
  await model([
    {
      expect({ toolNames }) {
        expect(toolNames).toEqual(expect.arrayContaining(['mcp_kit_write', 'search_tools']))
        expect(toolNames).not.toContain('mcp_big_ask_draw_tides')
        expect(toolNames).not.toContain('mcp_kit_get')
      },
      answer: { calls: [search] },
    },
    {
      expect(request) {
        expect(request.toolNames).toContain('mcp_big_ask_draw_tides')
        expect(historyText(request)).not.toContain('mcp_kit_get')
      },
      answer: { calls: [{ name: 'mcp_big_ask_draw_tides', arguments: { of: 'Ann' } }] },
    },
    {
      expect(request) {
        expect(request.toolNames).toContain('mcp_big_ask_draw_tides')
        expect(historyText(request)).toContain('tides done')
      },
      answer: 'Drawn.',
    },
  ])
  const paused = await world.run([{ ...node, tools: ['kit.write', 'big'] }], { input: { what: 'it' } })
  expect([paused.status, server.requests.length]).toEqual(['paused', 2])
  expect(await world.answer(paused, 'allow')).toMatchObject({ status: 'completed', output: 'Drawn.' })
  expect(made).toEqual(['draw tides'])
  server.done()
})

it('a search in an agent node finds only tools of the node', async () => {
  await registerMany([])
  await model([
    { answer: { calls: [{ name: 'search_tools', arguments: { query: 'write', names: ['kit.write'] } }] } },
    {
      expect(request) {
        expect(historyText(request)).toContain('There is no tool \\"kit.write\\"')
        expect(request.toolNames).not.toContain('mcp_kit_write')
      },
      answer: 'No.',
    },
  ])
  const done = await world.run([{ ...node, tools: ['big'] }], { input: { what: 'it' } })
  expect(done.error).toBeUndefined()
  server.done()
})

it('the run of an agent node reports what schemas lost for the model', async () => {
  const inputSchema = { type: 'object', properties: { 'a b': { type: 'string' }, plain: { type: 'string' } } }
  const odd = { name: 'odd', tools: [{ name: 'one', inputSchema, execute: () => 'x' }] }
  await world.host.toolkits.register(odd, { tier: 'user', userId: 'ann' })
  await model([{ answer: 'Fine.' }])
  const { warnings } = await world.run([{ ...node, tools: ['odd.one'] }], { input: { what: 'it' } })
  expect(warnings).toEqual([
    "The model is shown a simpler schema of 'odd.one', which takes less than the tool does. Lost: /properties/a b: the field: its name is not one that the provider takes.",
  ])
})

it('a model without a key fails its node with the fix', async () => {
  await model([])
  const done = await world.run([{ ...node, model: 'openai:gpt-5.6' }], { input: { what: 'it' } })
  expect(done).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining("no key for the models of 'openai'") },
  })
})

it.each([{ text: 'I will not.', stop: 'refusal' }, { text: ' ' }])(
  'an answer that is none fails its node',
  async (answer) => {
    await model([{ answer }])
    expect(await world.run([node], { input: { what: 'it' } })).toMatchObject({
      status: 'failed',
      error: { reason: 'model-failed', action: 'Ask in other words, or ask another model.' },
    })
  },
)

it('an agent node stops at its budget, counts usage before a pause, and names the limit with the fix', async () => {
  const usage = { input: 100, output: 10 }
  const write = (n: number) => ({ answer: { calls: [{ name: 'mcp_kit_write', arguments: { n } }], usage } })
  const asks = { answer: { calls: [{ name: 'mcp_kit_ask_me', arguments: {} }], usage } }
  await model([write(1), asks, write(2)])
  const paused = await world.run([{ ...node, budget: 300 }], { input: { what: 'it' } })
  expect([paused.status, server.requests.length]).toEqual(['paused', 2])
  const done = await world.answer(paused, 'allow')
  expect(done).toMatchObject({
    status: 'failed',
    error: {
      reason: 'limit-reached',
      action: 'Raise "budget", or ask for less.',
      message: "Node 'g' failed: The agent of 'g' used its budget of 300 tokens before it had an answer.",
    },
    usage: { inputTokens: 300, outputTokens: 30, calls: 3 },
  })
  // The third may say no more than is left, and the step that meets the budget is the last.
  expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([300, 190, 80])
  server.done()
})

it('the operator limit caps the node limit, and a lower node limit applies', async () => {
  await model(() => ({ calls: [{ name: 'mcp_kit_write', arguments: { n: 1 } }], usage: { input: 100, output: 10 } }))
  await world.host.app.update({ limits: { maxStepsPerAnswer: 3, maxTokensPerAnswer: 150 } })
  const ended = async (more: object) => (await world.run([{ ...node, ...more }], { input: { what: 'it' } })).error
  const asked = () => server.requests.length
  expect(await ended({ budget: 100_000 })).toMatchObject({
    message: expect.stringContaining('its budget of 150 tokens'),
    action: 'Ask for less, or ask the operator for a higher maxTokensPerAnswer.',
  })
  expect(asked()).toBe(2)
  expect(await ended({ budget: 100 })).toMatchObject({ action: 'Raise "budget", or ask for less.' })
  expect(asked()).toBe(3)
  await world.host.app.update({ limits: { maxTokensPerAnswer: null } })
  expect(await ended({ maxSteps: 50 })).toMatchObject({
    message: expect.stringContaining('no answer after 3 steps'),
    action: 'Ask for less, or ask the operator for a higher maxStepsPerAnswer.',
  })
  expect(asked()).toBe(6)
})

it.each([0, 1.5, '300', 100_000_001])('a budget of %j is rejected', async (budget) => {
  await model([])
  await expect(world.run([{ ...node, budget }], { input: { what: 'it' } })).rejects.toMatchObject({
    code: 'invalid-input',
    errors: [{ path: 'nodes.0.budget', message: expect.any(String) }],
  })
})
