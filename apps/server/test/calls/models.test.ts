/** Which models the app pays for, as its settings say: chats, agent nodes, looks ahead and what is listed agree. */
import { rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { startModelServer } from '@loadout/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createApp } from '../../src/http/app.ts'
import { agentOf, modelsOf } from '../../src/open-host.ts'

let host: HostServices
let server: Awaited<ReturnType<typeof startModelServer>>
let app: ReturnType<typeof createApp>
let called: number

beforeEach(async () => {
  called = 0
  server = await startModelServer(() => 'Hello.')
  const config = readConfig({
    LOADOUT_MODEL: 'openai:gpt-5.6',
    LOADOUT_MODELS: 'openai:{gpt-5-mini,gpt-5-nano*},anthropic:claude-haiku-*',
    LOADOUT_MODEL_URL: server.baseUrl.openai,
    LOADOUT_MODEL_KEY: 'key-of-the-app',
  })
  const tool = { name: 'note', inputSchema: { type: 'object' }, execute: () => ++called }
  host = createServices({
    policy: [rule('*', 'allow')],
    tools: [tool],
    agent: agentOf(() => modelsOf(host, config)),
  })
  const models = modelsOf(host, config)
  app = createApp({
    host,
    models,
    authenticate: ({ headers }) => ({
      kind: 'session',
      userId: headers.get('x-user') ?? '',
      role: headers.get('x-user') === 'op' ? 'operator' : 'user',
    }),
  })
})
afterEach(async () => {
  await server.close()
  await host.close()
})

async function ask(user: string, route: `${string} ${string}`, body?: unknown) {
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'x-user': user, 'content-type': 'application/json' }
  const answer = await app.request(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  const text = await answer.text()
  return { status: answer.status, text, json: () => JSON.parse(text) }
}
async function say(user: string, model?: string) {
  await ask(user, 'POST /api/threads', { id: 't' })
  return ask(user, 'POST /api/threads/t/messages', { message: 'Hi', ...(model ? { model } : {}) })
}
const keysSent = () => server.requests.map(({ headers }) => headers.authorization)
const listed = async (user: string) => {
  const { providers } = (await ask(user, 'GET /api/models')).json()
  return Object.fromEntries(providers.map((one: { provider: string; models: string[] }) => [one.provider, one.models]))
}
const workflow = (model: string) => ({
  name: 'w',
  nodes: [
    { id: 'note', type: 'tool', ref: 'app.note' },
    { id: 'ask', type: 'agent', model, prompt: 'Say hello.', after: ['note'] },
  ],
})
const OTHERS = "The app's key is not for 'openai:the-most-expensive'. It is for: openai:gpt-5.6, "

describe('the app model key', () => {
  it('allows a chat with the models that the operator lists, and with no other', async () => {
    const refused = await say('ann', 'openai:the-most-expensive')
    expect(refused.json()).toMatchObject({
      status: 409,
      code: 'model-unavailable',
      detail: expect.stringContaining(OTHERS),
      action: expect.stringMatching(/PUT \/api\/models\/openai\/key.*LOADOUT_MODELS/),
    })
    expect([server.requests.length, (await host.messages.list('ann', 't', { limit: 10 })).length]).toEqual([0, 0])
    for (const model of [undefined, 'openai:gpt-5.6', 'openai:gpt-5-mini', 'openai:gpt-5-nano-2026'])
      expect((await say('ann', model)).text).toContain('Hello.')
    for (const model of ['openai:gpt-5.60', 'openai:gpt-5', 'openai:x:gpt-5-mini'])
      expect((await say('ann', model)).status).toBe(409)
    expect(keysSent()).toEqual(Array(4).fill('Bearer key-of-the-app'))
  })

  it('is limited to the same list when an operator saved it', async () => {
    await ask('op', 'PUT /api/app/models/anthropic/key', { key: 'key-of-op' })
    expect((await say('ann', 'anthropic:claude-opus-5-5')).json().detail).toContain(
      "not for 'anthropic:claude-opus-5-5'",
    )
    expect(await host.workflows.check('ann', { definition: workflow('anthropic:claude-haiku-5') })).toMatchObject({
      ok: true,
    })
  })

  it('is checked by preflight for each workflow node, and nothing is called', async () => {
    const { id } = (await ask('ann', 'POST /api/workflows', workflow('openai:the-most-expensive'))).json()
    const problem = {
      node: 'ask',
      path: 'nodes.1.model',
      code: 'model-unavailable',
      message: expect.stringContaining(`Node 'ask': ${OTHERS}`),
      action: expect.stringContaining('LOADOUT_MODELS'),
    }
    const check = (await ask('ann', `POST /api/workflows/${id}/check`, {})).json()
    expect(check).toMatchObject({ ok: false, problems: [problem] })
    const run = await ask('ann', 'POST /api/workflow/invoke', { workflowId: id })
    expect(run.json()).toMatchObject({ status: 422, code: 'preflight-failed', detail: expect.stringContaining(OTHERS) })
    expect([called, server.requests.length]).toEqual([0, 0])
    const well = await ask('ann', 'POST /api/workflow/invoke', { definition: workflow('openai:gpt-5-mini') })
    expect([well.json().status, called, keysSent()]).toEqual(['completed', 1, ['Bearer key-of-the-app']])
  })
})

it('a user with their own key can use any model', async () => {
  await ask('bob', 'PUT /api/models/openai/key', { key: 'key-of-bob' })
  expect((await say('bob', 'openai:the-most-expensive')).text).toContain('Hello.')
  const run = await ask('bob', 'POST /api/workflow/invoke', { definition: workflow('openai:the-most-expensive') })
  expect(run.json().status).toBe('completed')
  expect(keysSent()).toEqual(['Bearer key-of-bob', 'Bearer key-of-bob'])
  await ask('bob', 'DELETE /api/models/openai/key')
  expect((await say('bob', 'openai:the-most-expensive')).status).toBe(409)
})

it('the model list contains the allowed models', async () => {
  const ofApp = ['openai:gpt-5.6', 'openai:{gpt-5-mini,gpt-5-nano*}']
  const none = { anthropic: [], google: [], 'openai-compatible': [] }
  expect(await listed('ann')).toEqual({ ...none, openai: ofApp })
  await ask('bob', 'PUT /api/models/openai/key', { key: 'key-of-bob' })
  await ask('op', 'PUT /api/app/models/anthropic/key', { key: 'key-of-op' })
  expect(await listed('bob')).toEqual({ ...none, openai: ['openai:*'], anthropic: ['anthropic:claude-haiku-*'] })
  expect(await listed('ann')).toEqual({ ...none, openai: ofApp, anthropic: ['anthropic:claude-haiku-*'] })
})
