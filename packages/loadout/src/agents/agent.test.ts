/** Agents over HTTP: configured models with the provider packages, against a scripted model server. */
import { afterEach, describe, expect, it } from 'vitest'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { ModelRequest, ModelScript } from '../testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../testing/model-server/server.ts'
import { type AgentOptions, agent } from './agent.ts'
import { createModels, type Models } from './models.ts'

const ORDERS = 'mcp_shop_orders'
const REFUND = 'mcp_shop_refund'
const KEYS = { anthropic: 'key-of-all', openai: 'key-of-all', google: 'key-of-all', 'openai-compatible': 'key-of-all' }
let host: HostServices
let server: ModelServer
let models: Models
afterEach(async () => {
  await server?.close()
  await host?.close()
})

async function start(script: ModelScript, options: { keys?: { anthropic: string } } = {}) {
  host = createServices({ policy: [rule('shop.refund', 'ask'), rule('*', 'allow')], approvalMs: 5000 })
  const inputSchema = { type: 'object', properties: { order: { type: 'string' } } }
  const tools = [
    { name: 'orders', description: 'Lists orders.', inputSchema, execute: () => ['a-1', 'b-2'] },
    { name: 'refund', description: 'Pays an order back.', inputSchema, execute: () => 'paid back' },
  ]
  await host.toolkits.register({ name: 'shop', tools }, { tier: 'app' })
  server = await startModelServer(script)
  const { openai, google, aiSdkAnthropic } = server.baseUrl
  models = createModels({
    credentials: host.credentials,
    storage: host.storage,
    keys: options.keys ?? KEYS,
    baseUrls: { anthropic: aiSdkAnthropic, openai, google, 'openai-compatible': openai },
    model: 'anthropic:claude-opus-5-5',
    appModels: ['openai:*', 'google:*', 'openai-compatible:*'],
  })
}

async function ask(more: Partial<AgentOptions> = {}, name?: string) {
  const opened = await models.open('ann', name)
  const tools = host.thread({ userId: 'ann', threadId: 't' })
  return agent({ ...opened, tools, prompt: 'Which orders are there?', maxRetries: 0, ...more })
}

const orders = { calls: [{ name: ORDERS, arguments: {} }], usage: { input: 100, output: 10 } }
const last = ({ history }: ModelRequest) => JSON.stringify(history.at(-1))

describe('an agent', () => {
  it.each(['anthropic:claude-opus-5-5', 'openai:gpt-5.6', 'google:gemini-3-pro-preview', 'openai-compatible:qwen3'])(
    '%s: calls and answers',
    async (name) => {
      await start([
        { answer: orders },
        {
          expect: (request) => expect(last(request)).toContain('a-1'),
          answer: { text: 'Two.', usage: { input: 150, output: 5 } },
        },
      ])
      await models.saveKey('ann', 'openai', 'key-of-ann')
      const { output, steps, usage, stopped, messages } = await ask({}, name)
      expect([output, stopped]).toEqual(['Two.', 'done'])
      expect(steps.map(({ calls }) => calls.map((call) => call.name))).toEqual([[ORDERS], []])
      expect(usage).toEqual({ inputTokens: 250, outputTokens: 15, totalTokens: 265 })
      expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
      server.done()
    },
  )

  it('waits for an approval and continues', async () => {
    await start([
      { answer: { calls: [{ name: REFUND, arguments: { order: 'a-1' } }] } },
      { expect: (request) => expect(last(request)).toContain('paid back'), answer: 'Done.' },
    ])
    const requests: string[] = []
    const { output } = await ask({
      onPending: (_, { id, ref }) => {
        requests.push(ref)
        void host.approvals.answer('ann', id, { decision: 'allow' })
      },
    })
    expect([output, requests]).toEqual(['Done.', ['shop.refund']])
  })

  it('stops at its step limit', async () => {
    await start(() => orders)
    const { stopped, steps } = await ask({ maxSteps: 3 })
    expect([stopped, steps.length, server.requests.length]).toEqual(['max-steps', 3, 3])
  })

  it('stops at its budget and never requests more tokens than remain', async () => {
    await start(() => orders)
    const { stopped, usage } = await ask({ maxSteps: 50, budget: 300 })
    expect([stopped, usage.totalTokens]).toEqual(['budget', 330])
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([300, 190, 80])
  })

  it('applies the lowest limit of the app and the operator', async () => {
    await start(() => orders)
    const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
    const model = 'anthropic:claude-opus-5-5'
    models = createModels({ ...host, baseUrls, keys: KEYS, model, ceiling: { maxSteps: 4, budget: 300 } })
    const took = async (more: Partial<AgentOptions>) => {
      const { stopped, steps } = await ask(more)
      return [stopped, steps.length]
    }
    expect(await took({ maxSteps: 50, budget: 5000 })).toEqual(['budget', 3])
    expect(await took({ maxSteps: 50 })).toEqual(['budget', 3])
    expect(await took({ maxSteps: 2 })).toEqual(['max-steps', 2])
    await host.app.update({ limits: { maxStepsPerAnswer: 100, maxTokensPerAnswer: 150 } })
    expect(await took({ maxSteps: 50, budget: 5000 })).toEqual(['budget', 2])
    expect(await took({ budget: 20 })).toEqual(['budget', 1])
    await host.app.update({ limits: { maxStepsPerAnswer: 1, maxTokensPerAnswer: null } })
    expect(await took({ maxSteps: 50 })).toEqual(['max-steps', 1])
  })

  it('stops when the app requests it', async () => {
    await start(() => orders)
    const { stopped, steps } = await ask({ stop: ({ steps: done }) => done.length === 2 })
    expect([stopped, steps.length]).toEqual(['stop', 2])
  })

  it('returns an output that matches a schema', async () => {
    await start([{ answer: orders }, { answer: '{"count":2}' }])
    const schema = {
      type: 'object',
      properties: { count: { type: 'integer' } },
      required: ['count'],
      additionalProperties: false,
    }
    expect((await ask({ output: schema }, 'openai-compatible:qwen3')).output).toEqual({ count: 2 })
  })

  it('is cancelled by its signal', async () => {
    await start(() => orders)
    const signal = AbortSignal.abort()
    await expect(ask({ signal })).rejects.toMatchObject({ code: 'cancelled' })
  })
})

describe('the model registry', () => {
  it("uses a user's own key first, then the app's, then the operator's", async () => {
    await start(() => 'Hello.')
    const keyOf = async (userId: string) => {
      const opened = await models.open(userId)
      await agent({ ...opened, tools: host.thread({ userId, threadId: 't' }), prompt: 'Hi', maxRetries: 0 })
      return server.requests.at(-1)?.headers['x-api-key']
    }
    expect(await keyOf('ann')).toBe('key-of-all')
    await models.saveKey(APP_OWNER, 'anthropic', 'key-of-app')
    expect(await keyOf('ann')).toBe('key-of-app')
    await models.saveKey('ann', 'anthropic', 'key-of-ann')
    expect([await keyOf('ann'), await keyOf('bob')]).toEqual(['key-of-ann', 'key-of-app'])
    expect((await models.keys('ann')).anthropic).toBe('user')
    expect(await models.keys('bob')).toEqual({
      anthropic: 'app',
      openai: 'app',
      google: 'app',
      'openai-compatible': 'app',
    })
    await models.clearKey('ann', 'anthropic')
    expect(await keyOf('ann')).toBe('key-of-app')
  })

  it('reports a missing model or key with the fix', async () => {
    await start(() => 'Hello.')
    const { google: _, ...keys } = KEYS
    const without = createModels({ credentials: host.credentials, storage: host.storage, keys })
    await expect(without.open('ann', 'google:gemini-3')).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining("no key for the models of 'google'"),
      action: expect.stringContaining('PUT /api/models/google/key'),
    })
    await expect(models.open('ann', 'mistral:large')).rejects.toMatchObject({ code: 'invalid-input' })
    const none = createModels({ credentials: host.credentials, storage: host.storage })
    await expect(none.open('ann')).rejects.toMatchObject({ action: expect.stringContaining('LOADOUT_MODEL') })
    await expect(none.open('ann', 'openai-compatible:qwen3')).rejects.toMatchObject({
      action: expect.stringContaining('LOADOUT_MODEL_URL'),
    })
    await expect(models.saveKey('ann', 'openai', 'two words')).rejects.toMatchObject({ code: 'invalid-input' })
  })

  it('hides a key that the provider rejects and reports its owner', async () => {
    await start(
      () => ({
        raw: {
          status: 401,
          body: { type: 'error', error: { type: 'authentication_error', message: 'bad key s3cr3t-key' } },
        },
      }),
      { keys: { anthropic: 's3cr3t-key' } },
    )
    const failure = await ask().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'model-failed', action: expect.stringContaining("key of 'anthropic'") })
    expect(JSON.stringify(failure) + String((failure as Error).message)).not.toContain('s3cr3t')
    expect((failure as Error).message).toContain('***')
  })
})
