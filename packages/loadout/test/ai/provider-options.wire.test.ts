/** Options of one tool for its provider, as they leave with the official SDKs: one tool has them, the one beside it does not. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, isStepCount } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { PROMPT, READ, SUM, useModelHost } from '../../../../test/model-host.ts'
import { answerAnthropic, readAnthropic, toAnthropic } from '../../src/ai/anthropic/anthropic.ts'
import {
  answerOpenAI,
  answerOpenAIChat,
  callAll,
  readOpenAI,
  readOpenAIChat,
  toOpenAI,
  toOpenAIChat,
} from '../../src/ai/openai/openai.ts'
import { toAI } from '../../src/ai/to-ai.ts'
import { providerOptions } from '../../src/loadout/transform/transformers.ts'
import type { JsonObject } from '../../src/schema/json.ts'
import type { ToolTransformer } from '../../src/schema/toolkit/tool.ts'
import type { ModelRequest, ModelScript } from '../../src/testing/model-server/script.ts'

const { fixture, serve } = useModelHost()

/** As source 004 writes it. */
const STRICT = { openai: { function: { strict: true } }, google: { grounding: false } }
const ofRead =
  (options: JsonObject): ToolTransformer =>
  (tool, source) =>
    tool.name === 'read_text_file' ? providerOptions(options)(tool, source) : tool

let users = 0
/** A selection of both tools: one that the prompt finds, one that is loaded. */
async function selected(...transform: ToolTransformer[]) {
  const id = `options-${++users}`
  const thread = fixture().host.thread({ userId: id, threadId: id }, { transform })
  await thread.load(['filesystem.read_text_file'])
  return thread.select({ prompt: PROMPT, limit: 1 })
}

/** What a strict tool is called with: what it leaves out is null. */
const asked = () => ({ name: READ, arguments: { path: fixture().note, head: null, tail: null } })
const named = ({ tools }: ModelRequest, name: string) =>
  tools.map((tool) => (tool.function ?? tool) as JsonObject).find((tool) => tool.name === name)

const strictScript = (): ModelScript => [
  {
    expect: (request) => {
      expect(named(request, READ)).toMatchObject({
        strict: true,
        parameters: { additionalProperties: false, required: expect.arrayContaining(['path', 'head', 'tail']) },
      })
      expect(named(request, SUM)?.strict ?? false).toBe(false)
    },
    answer: { calls: [asked()] },
  },
  { expect: ({ history }) => expect(JSON.stringify(history)).toContain('The answer is 42.'), answer: 'It is 42.' },
]

describe('mixed strict and non-strict tools at OpenAI', () => {
  it('are sent through Responses', async () => {
    const server = await serve(strictScript())
    const client = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
    const selection = await selected(ofRead(STRICT))
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PROMPT }]
    const { tools } = toOpenAI(selection, { input })
    const { output } = await client.responses.create({ model: 'gpt-5.6', store: false, tools, input })
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    const { calls } = readOpenAI(selection, output)
    expect(calls[0]?.arguments).toEqual({ path: fixture().note })
    input.push(...answerOpenAI(selection, await callAll(calls, selection.call)))
    await client.responses.create({ model: 'gpt-5.6', store: false, tools, input })
    server.done()
  })

  it('are sent through Chat Completions', async () => {
    const server = await serve(strictScript())
    const client = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
    const selection = await selected(ofRead({ openai: { strict: true } }))
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }]
    const { tools } = toOpenAIChat(selection)
    const { choices } = await client.chat.completions.create({ model: 'gpt-5.6', tools, messages })
    const message = choices[0]?.message as OpenAI.ChatCompletionMessage
    const { calls } = readOpenAIChat(selection, message)
    expect(calls[0]?.arguments).toEqual({ path: fixture().note })
    messages.push(message, ...answerOpenAIChat(selection, await callAll(calls, selection.call)))
    await client.chat.completions.create({ model: 'gpt-5.6', tools, messages })
    server.done()
  })

  it.each(['responses', 'chat'] as const)('reach the wire through the AI SDK (%s)', async (api) => {
    const server = await serve(strictScript())
    const model = createOpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai })[api]('gpt-5.6')
    const selection = await selected(ofRead(STRICT))
    await generateText({ model, prompt: PROMPT, maxRetries: 0, stopWhen: isStepCount(3), ...toAI(selection) })
    server.done()
  })

  it('keep one tool non-strict when all others are strict', async () => {
    const selection = await selected(ofRead({ openai: { strict: false } }))
    const { tools, lost } = toOpenAI(selection, { schemas: 'openai-strict' })
    const strict = Object.fromEntries(tools.flatMap((tool) => ('strict' in tool ? [[tool.name, tool.strict]] : [])))
    expect(strict).toEqual({ [SUM]: true, [READ]: false, read_result: true })
    expect(lost.filter(({ ref }) => ref === 'filesystem.read_text_file')).toEqual([])
  })
})

const CACHED = {
  anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' }, eagerInputStreaming: true, strict: true },
}
const onTheWire = { cache_control: { type: 'ephemeral', ttl: '1h' }, eager_input_streaming: true, strict: true }
const plain = expect.not.objectContaining({ strict: true, eager_input_streaming: true })

describe('provider options at Anthropic', () => {
  const script = (): ModelScript => [
    {
      expect: (request) => {
        expect(named(request, READ)).toMatchObject(onTheWire)
        expect(named(request, SUM)).toEqual(plain)
        expect(named(request, SUM)).not.toHaveProperty('cache_control')
      },
      answer: { calls: [{ name: READ, arguments: { path: fixture().note } }] },
    },
    { expect: ({ history }) => expect(JSON.stringify(history)).toContain('The answer is 42.'), answer: 'It is 42.' },
  ]

  it('send cacheControl, eagerInputStreaming and strict of one tool to Messages', async () => {
    const server = await serve(script())
    const client = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
    const selection = await selected(ofRead(CACHED))
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }]
    const { tools } = toAnthropic(selection, { messages })
    const response = await client.messages.create({ model: 'claude-opus-5-5', max_tokens: 100, tools, messages })
    messages.push({ role: 'assistant', content: response.content })
    const { calls } = readAnthropic(selection, response)
    messages.push(answerAnthropic(selection, await callAll(calls, selection.call)))
    await client.messages.create({ model: 'claude-opus-5-5', max_tokens: 100, tools, messages })
    server.done()
  })

  it('are sent through the AI SDK', async () => {
    const server = await serve(script())
    const model = createAnthropic({ apiKey: 'key', baseURL: server.baseUrl.aiSdkAnthropic })('claude-opus-5-5')
    const selection = await selected(ofRead(CACHED))
    const form = toAI(selection, { provider: 'anthropic' })
    await generateText({ model, prompt: PROMPT, maxRetries: 0, stopWhen: isStepCount(3), ...form })
    server.done()
  })

  it('never cache deferred tools and cache at most four', async () => {
    const selection = await selected(providerOptions(CACHED))
    const { tools, warnings } = toAnthropic(selection)
    const cached = tools.filter((tool) => 'cache_control' in tool)
    expect(cached.map(({ name }) => name).sort()).toEqual([SUM, READ].sort())
    expect(tools.filter((tool) => 'defer_loading' in tool).length).toBeGreaterThan(10)
    expect(warnings.join()).toContain('cacheControl')
    const sent = toAI(selection, { search: { by: 'anthropic' } }).tools
    const waiting = Object.values(sent).filter(
      ({ providerOptions: options }) => options?.anthropic?.deferLoading === true,
    )
    expect(waiting.length).toBeGreaterThan(10)
    for (const { providerOptions: options } of waiting) expect(options?.anthropic?.cacheControl).toBe(undefined)
  })

  it('skip invalid values and keep the valid ones', async () => {
    const odd = {
      anthropic: { cacheControl: { type: 'for-ever' }, strict: 'yes', eagerInputStreaming: true },
      openai: 7,
    }
    const selection = await selected(ofRead(odd))
    const read = toAnthropic(selection, { messages: [] }).tools.find(({ name }) => name === READ)
    expect(read).toMatchObject({ eager_input_streaming: true })
    expect(read).not.toHaveProperty('cache_control')
    expect(read).not.toHaveProperty('strict')
    const [one] = toOpenAIChat(selection).tools.filter((tool) => tool.function.name === READ)
    expect(one?.function).not.toHaveProperty('strict')
  })
})
