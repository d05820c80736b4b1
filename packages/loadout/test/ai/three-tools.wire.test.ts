/**
 * The same conversation through each official SDK: three tools are called, of which a person approves one and denies one, and one
 * is found by `search_tools` first. What was called, what was not, and what the log says is the same whoever asked.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, isStepCount, type LanguageModel } from 'ai'
import OpenAI from 'openai'
import { afterEach, expect, it } from 'vitest'
import { answerAnthropic, callAll, readAnthropic, toAnthropic } from '../../src/ai/anthropic/anthropic.ts'
import {
  answerOpenAI,
  answerOpenAIChat,
  readOpenAI,
  readOpenAIChat,
  toOpenAI,
  toOpenAIChat,
} from '../../src/ai/openai/openai.ts'
import type { SchemaProvider } from '../../src/ai/schema/schema-rules.ts'
import { toAI } from '../../src/ai/to-ai.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import type { ApprovalView } from '../../src/schema/records/approval.ts'
import type { ModelRequest, ModelStep } from '../../src/testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'
import type { Thread } from '../../src/thread.ts'

const [ORDERS, REFUND, SHIP] = ['mcp_shop_orders', 'mcp_shop_refund', 'mcp_post_ship_parcel']
const PROMPT = 'List the orders of the shop, then refund one.'
const QUERY = 'ship a parcel to an address'

let host: HostServices
let server: ModelServer
let called: string[]
afterEach(async () => {
  await server.close()
  await host.close()
})

const tool = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
  execute: () => {
    called.push(name)
    return `${name} is done`
  },
})

async function start(steps: ModelStep[]): Promise<Thread> {
  called = []
  host = createServices({ policy: [rule('shop.*', 'ask'), rule('post.*', 'allow')], approvalMs: 10_000 })
  const shop = [tool('orders', 'Lists the orders of the shop.'), tool('refund', 'Refunds an order of the shop.')]
  const post = [tool('ship_parcel', 'Ships a parcel to an address.')]
  await host.toolkits.register({ name: 'shop', tools: shop, deferLoading: false }, { tier: 'app' })
  await host.toolkits.register({ name: 'post', tools: post, deferLoading: true }, { tier: 'app' })
  server = await startModelServer(steps)
  return host.thread({ userId: 'ann', threadId: 't' })
}

/** A person who allows to look at orders, and no refunds. */
const person = (approval: ApprovalView) =>
  void host.approvals.answer('ann', approval.id, { decision: approval.ref === 'shop.orders' ? 'allow' : 'deny' })

const historyText = ({ history }: ModelRequest) => JSON.stringify(history)
const searches = {
  client: { searches: [{ arguments: { query: QUERY } }] },
  ours: { calls: [{ name: 'search_tools', arguments: { query: QUERY } }] },
}
const script = (search: keyof typeof searches): ModelStep[] => [
  { answer: { calls: [{ name: ORDERS }, { name: REFUND, arguments: { order: 'a-1' } }] } },
  {
    expect: (request) => {
      expect(historyText(request)).toContain('orders is done')
      expect(historyText(request)).toContain('You denied it.')
      // What waits is not there to be called, or is only there to be referred to.
      expect(request.toolNames.filter((name) => !request.deferredNames.includes(name))).not.toContain(SHIP)
    },
    answer: searches[search],
  },
  { answer: { calls: [{ name: SHIP, arguments: { order: 'a-1' } }] } },
  { expect: (request) => expect(historyText(request)).toContain('ship_parcel is done'), answer: 'It is on its way.' },
]

async function byAnthropic(thread: Thread): Promise<string> {
  const client = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }]
  for (let selection = await thread.select({ prompt: PROMPT, limit: 0 }); ; selection = selection.next()) {
    const { tools } = toAnthropic(selection, { messages })
    const { content } = await client.messages.create({ model: 'claude-opus-5-5', max_tokens: 1000, tools, messages })
    messages.push({ role: 'assistant', content })
    const { calls } = readAnthropic(selection, content)
    if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    messages.push(
      answerAnthropic(selection, await callAll(calls, selection.call, { onPending: (_, one) => person(one) })),
    )
  }
}

async function byResponses(thread: Thread): Promise<string> {
  const client = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PROMPT }]
  for (let selection = await thread.select({ prompt: PROMPT, limit: 0 }); ; selection = selection.next()) {
    const { tools } = toOpenAI(selection, { input })
    const response = await client.responses.create({ model: 'gpt-5.6', store: false, tools, input })
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]))
    const { calls } = readOpenAI(selection, response.output)
    if (calls.length === 0) return response.output_text
    input.push(...answerOpenAI(selection, await callAll(calls, selection.call, { onPending: (_, one) => person(one) })))
  }
}

async function byChat(thread: Thread): Promise<string> {
  const client = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }]
  for (let selection = await thread.select({ prompt: PROMPT, limit: 0 }); ; selection = selection.next()) {
    const { tools } = toOpenAIChat(selection)
    const { choices } = await client.chat.completions.create({ model: 'gpt-5.6', tools, messages })
    const message = choices[0]?.message as OpenAI.ChatCompletionMessage
    messages.push(message)
    const { calls } = readOpenAIChat(selection, message)
    if (calls.length === 0) return message.content ?? ''
    messages.push(
      ...answerOpenAIChat(selection, await callAll(calls, selection.call, { onPending: (_, one) => person(one) })),
    )
  }
}

const bySDK = (model: () => LanguageModel, schemas?: SchemaProvider) => async (thread: Thread) => {
  const selection = await thread.select({ prompt: PROMPT, limit: 0 })
  const form = toAI(selection, { schemas, onPending: (_, approval) => person(approval) })
  return (await generateText({ model: model(), prompt: PROMPT, maxRetries: 0, stopWhen: isStepCount(9), ...form })).text
}

const WAYS: Record<string, [search: keyof typeof searches, (thread: Thread) => Promise<string>]> = {
  'the SDK of Anthropic': ['ours', byAnthropic],
  'the SDK of OpenAI, Responses': ['client', byResponses],
  'the SDK of OpenAI, Chat Completions': ['ours', byChat],
  'the AI SDK, Anthropic': [
    'ours',
    bySDK(() => createAnthropic({ apiKey: 'key', baseURL: server.baseUrl.aiSdkAnthropic })('claude-opus-5-5')),
  ],
  'the AI SDK, OpenAI': [
    'ours',
    bySDK(() => createOpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai })('gpt-5.6')),
  ],
  'the AI SDK, Google': [
    'ours',
    bySDK(() => createGoogle({ apiKey: 'key', baseURL: server.baseUrl.google })('gemini-3-pro-preview'), 'gemini-json'),
  ],
}

it.each(Object.entries(WAYS))(
  'a thread with %s calls an approved tool, skips a denied tool and finds a third',
  async (_, [search, converse]) => {
    const thread = await start(script(search))
    expect(await converse(thread)).toBe('It is on its way.')
    server.done()
    expect(called).toEqual(['orders', 'ship_parcel'])
    const { items } = await host.audit.list({ userId: 'ann' }, { action: 'mcp_tool_call' })
    // The newest first: of each call its outcome, and behind it that it began.
    const outcomes = Object.fromEntries(items.reverse().map(({ ref, outcome }) => [ref, outcome]))
    expect(outcomes).toMatchObject({ 'shop.orders': 'ok', 'shop.refund': 'denied', 'post.ship_parcel': 'ok' })
    const approvals = (await host.approvals.list('ann')).map(({ ref, status }) => [ref, status])
    expect(Object.fromEntries(approvals)).toEqual({ 'shop.orders': 'allowed', 'shop.refund': 'denied' })
  },
)
