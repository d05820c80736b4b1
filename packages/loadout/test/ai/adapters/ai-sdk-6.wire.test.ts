/** The AI SDK 6 in place of version 7: the same conversation, and approvals in the SDK's own way. */

import { generateText, type ModelMessage, stepCountIs, streamText, ToolLoopAgent, type ToolSet } from 'ai6'
import { createOpenAI } from 'ai6-openai'
import { describe, expect, it, vi } from 'vitest'
import { answerFromSdk, toAI } from '../../../src/ai/to-ai.ts'
import { type Conversation, converse, PROMPT } from './conversation.ts'

// The library imports `ai`; here that is the real version 6.
vi.mock('ai', () => import('ai6'))

const settings = ({ selection, url, allow }: Conversation) => {
  const form = toAI(selection, { onPending: (_, { id }) => void allow(id) })
  return {
    ...form,
    tools: form.tools as unknown as ToolSet,
    model: createOpenAI({ apiKey: 'key', baseURL: url.openai }).chat('gpt-5.6'),
    stopWhen: stepCountIs(10),
    maxRetries: 0,
  }
}

describe('the AI SDK 6', () => {
  it('completes the conversation with generateText, and the model reads how to find more tools', () =>
    converse(async (world) => {
      const { text, steps } = await generateText({ ...settings(world), prompt: PROMPT })
      expect(JSON.stringify(steps[0]?.request.body)).toContain('Find them with search_tools')
      return text
    }))

  it('completes the conversation with streamText', () =>
    converse(async (world) => {
      const result = streamText({ ...settings(world), prompt: PROMPT })
      await result.consumeStream()
      return result.text
    }))

  it('completes the conversation with ToolLoopAgent', () =>
    converse(async (world) => (await new ToolLoopAgent(settings(world)).generate({ prompt: PROMPT })).text))

  it('ends with its own approval request, and continues after answerFromSdk', () =>
    converse(async (world) => {
      const { selection, approvals } = world
      const form = toAI(selection, { approvals: 'sdk' })
      const request = { ...settings(world), ...form, tools: form.tools as unknown as ToolSet }
      const messages: ModelMessage[] = [{ role: 'user', content: PROMPT }]
      const asked = await generateText({ ...request, messages })
      const part = asked.content.find(({ type }) => type === 'tool-approval-request')
      const { approvalId } = part as { approvalId: string }
      expect(form.approvals.get('call_3')).toMatchObject({ ref: 'shop.refund', status: 'pending' })
      messages.push(...asked.response.messages, {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId, approved: true }],
      })
      expect(await answerFromSdk(messages, { selection, approvals })).toMatchObject([{ toolCallId: 'call_3' }])
      return (await generateText({ ...request, messages })).text
    }))

  it('refuses the search of version 7 with a fix', () =>
    converse(async (world) => {
      expect(() => toAI(world.selection, { search: { by: 'ai-sdk' } })).toThrow('needs version 7')
      return (await generateText({ ...settings(world), prompt: PROMPT })).text
    }))
})
