/** Gemini through the official package of the AI SDK: schemas that its API takes, whatever a server wrote, and what they lost. */
import { createGoogle } from '@ai-sdk/google'
import { generateText, isStepCount } from 'ai'
import { afterEach, expect, it } from 'vitest'
import { agent } from '../../src/agents/agent.ts'
import { toAI } from '../../src/ai/to-ai.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import type { JsonObject } from '../../src/schema/json.ts'
import type { ModelScript } from '../../src/testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'

/** All that servers write and Gemini does not take. */
const inputSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    to: { $ref: '#/$defs/address' },
    kind: { const: 'parcel' },
    count: { type: 'integer', minimum: 1, multipleOf: 2, enum: [2, 4] },
    note: { type: ['string', 'null'], pattern: '^[a-z]+$', minLength: 1 },
    size: { oneOf: [{ type: 'string' }, { type: 'array', items: [{ type: 'number' }, { type: 'number' }] }] },
    tags: { type: 'object', additionalProperties: { type: 'string', maxLength: 5 } },
    paid: { enum: [true, null] },
  },
  required: ['to'],
  additionalProperties: false,
  $defs: {
    address: { type: 'object', properties: { city: { type: 'string' }, next: { $ref: '#/$defs/address' } } },
  },
}
const args = { to: { city: 'Ulm' }, count: 2, note: null, tags: { a: 'b' } }
const SHIP = 'mcp_post_ship'

let host: HostServices
let server: ModelServer
const received: unknown[] = []
afterEach(async () => {
  await server.close()
  await host.close()
})

async function start(script: ModelScript) {
  host = createServices({ policy: [rule('*', 'allow')] })
  const execute = (input: unknown) => {
    received.push(input)
    return 'shipped'
  }
  const tools = [{ name: 'ship', description: 'Ships a parcel.', inputSchema, execute }]
  await host.toolkits.register({ name: 'post', tools, deferLoading: false }, { tier: 'app' })
  server = await startModelServer(script)
  return createGoogle({ apiKey: 'key', baseURL: server.baseUrl.google })('gemini-3-pro-preview')
}

const thread = () => host.thread({ userId: 'ann', threadId: 't' })
const script: ModelScript = [{ answer: { calls: [{ name: SHIP, arguments: args }] } }, { answer: 'Shipped.' }]
const sent = () => server.requests[0]?.tools[0]?.parametersJsonSchema as { properties: Record<string, JsonObject> }

it('the Google API rejects an unprojected server schema with the reason', async () => {
  const model = await start(script)
  const form = toAI(await thread().select({ prompt: 'Ship it.' }))
  await expect(generateText({ model, prompt: 'Ship it.', maxRetries: 0, ...form })).rejects.toThrow(
    '"$schema" is not supported',
  )
})

it('the Google API accepts a projected schema, the tool gets the arguments, and losses are reported', async () => {
  const model = await start(script)
  const form = toAI(await thread().select({ prompt: 'Ship it.' }), { schemas: 'gemini-json' })
  const { text } = await generateText({ model, prompt: 'Ship it.', maxRetries: 0, stopWhen: isStepCount(3), ...form })
  server.done()
  expect([text, received.at(-1)]).toEqual(['Shipped.', args])
  expect(sent().properties).toMatchObject({
    to: { type: 'object', properties: { city: { type: 'string' } } },
    kind: { enum: ['parcel'] },
    count: { type: 'integer', minimum: 1, enum: [2, 4] },
    note: { type: ['string', 'null'] },
    size: { anyOf: [{ type: 'string' }, { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] }] },
    tags: { type: 'object', additionalProperties: { type: 'string' } },
  })
  expect(form.lost.map(({ ref, path }) => `${ref} ${path}`)).toEqual(
    expect.arrayContaining([
      'post.ship /properties/note/pattern',
      'post.ship /properties/count/multipleOf',
      'post.ship /properties/size/oneOf',
      'post.ship /properties/paid/enum',
    ]),
  )
  expect(form.lost.filter(({ narrows }) => narrows)).toEqual([])
})

it('an agent projects schemas automatically and reports losses', async () => {
  const model = await start(script)
  const { output, lost } = await agent({ model, tools: thread(), prompt: 'Ship it.', maxRetries: 0 })
  server.done()
  expect(output).toBe('Shipped.')
  expect(lost).toContainEqual({ ref: 'post.ship', path: '/properties/note/pattern', what: 'pattern' })
})
