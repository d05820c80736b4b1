/** Approvals in the AI SDK's own way: the generation ends with a request and continues with the answer. */
import assert from 'node:assert/strict'
import { createAnthropic } from '@ai-sdk/anthropic'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' }, id: 'toolu_1' }] } },
  { answer: 'The money is on its way.' },
])
const model = createAnthropic({ apiKey: 'key', baseURL: server.baseUrl.aiSdkAnthropic })('claude-opus-5-5')
await using host = await openShop({ ask: ['shop.refund'] })
const ann = host.user('ann')

//#region example
import { answerFromSdk, toAI } from '@loadout/core/ai'
import { generateText, isStepCount, type ModelMessage } from 'ai'

const messages: ModelMessage[] = [{ role: 'user', content: 'Refund a-1.' }]
const selection = await ann.thread('support').select({ prompt: 'Refund a-1.' })
const { approvals, ...form } = toAI(selection, { approvals: 'sdk' })
const asked = await generateText({ model, messages, stopWhen: isStepCount(10), ...form })
messages.push(...asked.responseMessages)

// The user answers the request of the SDK; `approvals` has the stored request of each tool call.
const request = asked.content.find((part) => part.type === 'tool-approval-request')
const { id, ref } = approvals.get('toolu_1') ?? {}
const response = { type: 'tool-approval-response' as const, approvalId: request?.approvalId ?? '', approved: true }
messages.push({ role: 'tool', content: [response] })

// Only the stored answer counts, so take it from the messages of the signed-in user.
const [answer] = await answerFromSdk(messages, { selection, approvals: ann.approvals })
const { text } = await generateText({ model, messages, stopWhen: isStepCount(10), ...form })
//#endregion
server.done()
await server.close()
assert.equal(text, 'The money is on its way.')
assert.deepEqual([ref, answer?.approval.id, answer?.approval.status], ['shop.refund', id, 'allowed'])
assert.match(JSON.stringify(server.requests.at(-1)?.history), /a-1 is paid back/)
