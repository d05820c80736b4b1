/** Token counts of models: in agents, workflow nodes and cancelled streams. */
import { streamText } from 'ai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import type { ModelScript } from '../testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../testing/model-server/server.ts'
import type { Agent } from '../workflow/agent.ts'
import { agent } from './agent.ts'
import { createModels, type Models } from './models.ts'
import { nodeAgent } from './node-agent.ts'

let host: HostServices
let server: ModelServer
let models: Models
beforeEach(async () => {
  const run: Agent = (request) => nodeAgent({ models })(request)
  host = createServices({ policy: [rule('kit.ask', 'ask'), rule('*', 'allow')], agent: run })
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, execute: () => null })
  await host.toolkits.register({ name: 'kit', tools: [tool('look'), tool('ask')] }, { tier: 'app' })
  await host.ready()
})
afterEach(async () => {
  await server.close()
  await host.close()
})

async function start(script: ModelScript, paceMs?: number) {
  server = await startModelServer(script, paceMs === undefined ? {} : { paceMs })
  const baseUrls = { anthropic: server.baseUrl.aiSdkAnthropic }
  models = createModels({ ...host, baseUrls, keys: { anthropic: 'k' }, model: 'anthropic:claude-opus-5-5' })
}

const ask = async (userId = 'ann', threadId = 't') =>
  agent({
    ...(await models.open(userId, undefined, { threadId })),
    tools: host.thread({ userId, threadId }),
    prompt: 'Look.',
    maxRetries: 0,
  })
const used = async (userId = 'ann') => (await host.usage(userId)).tokensToday.used
const look = { calls: [{ name: 'mcp_kit_look', arguments: {} }], usage: { input: 100, output: 10 } }
const done = { text: 'Done.', usage: { input: 100, output: 10 } }

describe('a metered agent', () => {
  it("counts toward its user's daily tokens and no other user's", async () => {
    await start([{ answer: look }, { answer: done }])
    await ask()
    expect([await used(), await used('bob')]).toEqual([220, 0])
  })

  it('stops at the step that uses up the tokens, reports the limit and its reset, and is then refused', async () => {
    await host.preferences.update('ann', { costLimits: { maxTokensPerDay: 150 } })
    await start(() => look)
    const { stopped, reached, steps } = await ask()
    expect([stopped, steps.length]).toEqual(['limit', 2])
    const { resetsAt } = (await host.usage('ann')).tokensToday
    expect(reached?.message).toBe(`maxTokensPerDay is 150 for this user; it resets at ${resetsAt}.`)
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([150, 150 - 110])
    await expect(ask()).rejects.toMatchObject({ code: 'limit-reached', message: expect.stringContaining(resetsAt) })
    expect(server.requests).toHaveLength(2)
    await expect(ask('bob')).resolves.toMatchObject({ stopped: 'max-steps' })
  })

  it('stops at the limit of its thread', async () => {
    await host.threads.create('ann', { id: 't' })
    await host.threads.update('ann', 't', { settings: { limits: { maxTokensPerDay: 50 } } })
    await start(() => look)
    expect((await ask()).reached?.message).toContain('maxTokensPerDay is 50 for this thread')
    expect((await ask('ann', 'other')).stopped).toBe('max-steps')
  })

  it('reports a truncated answer as incomplete', async () => {
    await start([{ answer: { text: 'And so', stop: 'max_tokens' } }])
    expect((await ask()).stopped).toBe('length')
  })

  it('makes no model request without remaining tokens, however the model is used', async () => {
    await host.app.update({ limits: { maxTokensPerDay: 5 } })
    await start(() => done)
    const { model } = await models.open('ann')
    const { generateText } = await import('ai')
    await generateText({ model, prompt: 'Hi' })
    await expect(generateText({ model, prompt: 'Hi' })).rejects.toMatchObject({ code: 'limit-reached' })
    expect(server.requests).toHaveLength(1)
  })
})

describe('a metered stream', () => {
  it('counts its tokens at the end, or up to the point where it is cancelled', async () => {
    await start(() => ({ text: 'A long answer. '.repeat(100), usage: { input: 1000, output: 500 } }), 2)
    const { model } = await models.open('ann')
    await streamText({ model, prompt: 'Talk.' }).consumeStream()
    expect(await used()).toBe(1500)
    const gone = new AbortController()
    const { textStream } = streamText({ model, prompt: 'x'.repeat(4000), abortSignal: gone.signal, onError: () => {} })
    for await (const _ of textStream) gone.abort()
    await expect.poll(() => used()).toBeGreaterThan(2500)
    expect(await used()).toBeLessThan(2700)
  })
})

describe('a metered workflow node', () => {
  const node = { id: 'g', type: 'agent', prompt: 'Look.', tools: ['kit'] }
  const run = () => host.workflows.run('ann', { definition: { name: 'w', nodes: [node] } })

  it('counts once, also if its run continues later', async () => {
    await start([{ answer: { ...look, calls: [{ name: 'mcp_kit_ask' }] } }, { answer: done }])
    const { id, steps, status } = await run()
    expect([status, await used()]).toEqual(['paused', 110])
    const { approvalId } = steps.find((step) => step.status === 'paused') ?? {}
    await host.approvals.answer('ann', approvalId ?? '', { decision: 'allow' })
    expect((await host.runs.settled('ann', id)).status).toBe('completed')
    expect(await used()).toBe(220)
  })

  it('fails when the tokens are used up, with the limit and its reset', async () => {
    await host.app.update({ limits: { maxTokensPerDay: 105 } })
    await start(() => look)
    const { status, error } = await run()
    expect(status).toBe('failed')
    expect(error?.message).toContain('maxTokensPerDay is 105 for this user; it resets at')
    expect(server.requests).toHaveLength(1)
  })
})
