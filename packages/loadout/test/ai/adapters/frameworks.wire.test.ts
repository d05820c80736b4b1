/** The same conversation with one approval through every adapter. The SDKs are real, and the models are scripted. */

import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, isStepCount, streamText, ToolLoopAgent } from 'ai'
import { createAgent } from 'langchain'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { toLangChain } from '../../../src/ai/adapters/langchain.ts'
import { toMastra } from '../../../src/ai/adapters/mastra.ts'
import { toOpenAIAgents } from '../../../src/ai/adapters/openai-agents.ts'
import { answerAnthropic, readAnthropic, toAnthropic } from '../../../src/ai/anthropic/anthropic.ts'
import { callAll } from '../../../src/ai/model-call.ts'
import {
  answerOpenAI,
  answerOpenAIChat,
  readOpenAI,
  readOpenAIChat,
  toOpenAI,
  toOpenAIChat,
} from '../../../src/ai/openai/openai.ts'
import { toAI } from '../../../src/ai/to-ai.ts'
import { type Adapter, converse, PROMPT } from './conversation.ts'

const KEY = { apiKey: 'key', maxRetries: 0 }

/** The loop of an app over one provider's API, with the three functions of its adapter. */
const loop = async (limit: number, step: () => Promise<string | undefined>) => {
  for (let at = 0; at < limit; at++) {
    const text = await step()
    if (text !== undefined) return text
  }
  return ''
}

const openai: Adapter = async ({ selection, url, allow }) => {
  const client = new OpenAI({ ...KEY, baseURL: url.openai })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PROMPT }]
  return loop(10, async () => {
    const { tools } = toOpenAI(selection, { input })
    const { output, output_text } = await client.responses.create({ model: 'gpt-5.6', store: false, tools, input })
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    const { calls } = readOpenAI(selection, output)
    if (calls.length === 0) return output_text
    const completed = await callAll(calls, selection.call, { onPending: (_, { id }) => void allow(id) })
    input.push(...answerOpenAI(selection, completed))
    return undefined
  })
}

const openaiChat: Adapter = async ({ selection: first, url, allow }) => {
  const client = new OpenAI({ ...KEY, baseURL: url.openai })
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }]
  let selection = first
  return loop(10, async () => {
    const { tools } = toOpenAIChat(selection)
    const { choices } = await client.chat.completions.create({ model: 'gpt-5.6', tools, messages })
    const message = choices[0]?.message as OpenAI.Chat.ChatCompletionMessage
    messages.push(message)
    const { calls } = readOpenAIChat(selection, message)
    if (calls.length === 0) return message.content ?? ''
    const completed = await callAll(calls, selection.call, { onPending: (_, { id }) => void allow(id) })
    messages.push(...answerOpenAIChat(selection, completed))
    selection = selection.next()
    return undefined
  })
}

const anthropic: Adapter = async ({ selection: first, url, allow }) => {
  const client = new Anthropic({ ...KEY, baseURL: url.anthropic })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }]
  let selection = first
  return loop(10, async () => {
    const { tools } = toAnthropic(selection, { messages })
    const { content } = await client.messages.create({ model: 'claude-opus-5-5', max_tokens: 1000, tools, messages })
    messages.push({ role: 'assistant', content })
    const { calls } = readAnthropic(selection, content)
    if (calls.length === 0) return content[0]?.type === 'text' ? content[0].text : ''
    const completed = await callAll(calls, selection.call, { onPending: (_, { id }) => void allow(id) })
    messages.push(answerAnthropic(selection, completed))
    selection = selection.next()
    return undefined
  })
}

const langchain: Adapter = async ({ selection, url, allow }) => {
  const model = new ChatOpenAI({ ...KEY, model: 'gpt-5.6', configuration: { baseURL: url.openai } })
  const { tools, middleware, instructions } = toLangChain(selection, { onPending: (_, { id }) => void allow(id) })
  expect(instructions).toContain('search_tools')
  const agent = createAgent({ model, tools, middleware })
  const { messages } = await agent.invoke({ messages: [new HumanMessage(PROMPT)] })
  const artifact = messages.map((message) => ('artifact' in message ? message.artifact : undefined)).filter(Boolean)
  expect(artifact).toMatchObject([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }])
  return messages.at(-1)?.text ?? ''
}

const mastra: Adapter = async ({ selection, url, allow }) => {
  const { tools, prepareStep, instructions } = toMastra(selection, { onPending: (_, { id }) => void allow(id) })
  const model = { id: 'openai/gpt-5.6' as const, url: url.openai, apiKey: 'key' }
  const agent = new MastraAgent({ id: 'shop', name: 'Shop', instructions: instructions ?? '', model, tools })
  const { text } = await agent.generate(PROMPT, { prepareStep, maxSteps: 10 })
  return text
}

const openaiAgents: Adapter = async ({ selection, url, allow }) => {
  const { tools, instructions } = toOpenAIAgents(selection, { onPending: (_, { id }) => void allow(id) })
  const modelProvider = new OpenAIProvider({ apiKey: 'key', baseURL: url.openai, useResponses: false })
  const agent = new Agent({ name: 'Shop', model: 'gpt-5.6', tools, instructions: instructions ?? '' })
  const { finalOutput } = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, PROMPT)
  return String(finalOutput)
}

describe('the AI SDK 7', () => {
  const settings = ({ selection, url, allow }: Parameters<Adapter>[0]) => ({
    model: createOpenAI({ apiKey: 'key', baseURL: url.openai }).chat('gpt-5.6'),
    stopWhen: isStepCount(10),
    maxRetries: 0,
    ...toAI(selection, { onPending: (_, { id }) => void allow(id) }),
  })

  it('completes the conversation with generateText', () =>
    converse(async (world) => (await generateText({ ...settings(world), prompt: PROMPT })).text))

  it('completes the conversation with streamText', () =>
    converse(async (world) => {
      const result = streamText({ ...settings(world), prompt: PROMPT })
      await result.consumeStream()
      return result.text
    }))

  it('completes the conversation with ToolLoopAgent', () =>
    converse(async (world) => (await new ToolLoopAgent(settings(world)).generate({ prompt: PROMPT })).text))
})

describe('a framework or provider', () => {
  it.each([
    ['OpenAI Responses', openai],
    ['OpenAI Chat Completions', openaiChat],
    ['Anthropic Messages', anthropic],
    ['LangChain', langchain],
    ['Mastra', mastra],
    ['OpenAI Agents', openaiAgents],
  ])('completes the conversation with %s', (_, adapter) => converse(adapter))
})
