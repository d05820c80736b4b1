/** The chat of a thread in your own app, read as the AI SDK's UI reads it. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai'
import { openShop } from '../shop.ts'

const server = await startModelServer([
  { answer: { calls: [{ name: 'mcp_shop_orders' }] } },
  { answer: 'There are two: a-1 and b-2.' },
])
await using host = await openShop()
await host.user('ann').threads.create({ id: 'support' })
const options = { model: 'openai:gpt-5.6', keys: { openai: 'key' }, baseUrls: { openai: server.baseUrl.openai } }

//#region example
import { createModels, streamChat } from '@loadout/core/agents'

const models = createModels({ host, ...options })

/** One route of your app. `userId` comes from your session. */
async function POST(request: Request, userId: string): Promise<Response> {
  const { message } = await request.json()
  return streamChat({
    host,
    userId,
    threadId: 'support',
    model: await models.open(userId),
    userParts: [{ type: 'text', text: message }],
    signal: request.signal,
  })
}
//#endregion
const body = JSON.stringify({ message: 'Which orders are there?' })
const response = await POST(new Request('http://localhost/chat', { method: 'POST', body }), 'ann')
const chunks = parseJsonEventStream({
  stream: response.body as ReadableStream<Uint8Array>,
  schema: uiMessageChunkSchema,
}).pipeThrough(
  new TransformStream({
    transform(parsed, controller: TransformStreamDefaultController<UIMessageChunk>) {
      if (parsed.success) controller.enqueue(parsed.value)
    },
  }),
)
let answer: UIMessage | undefined
for await (const message of readUIMessageStream({ stream: chunks })) answer = message
server.done()
await server.close()
const types: string[] = answer?.parts.map(({ type }) => type) ?? []
for (const type of ['data-selection', 'dynamic-tool', 'text', 'data-usage']) assert.ok(types.includes(type), type)
const messages = await host.user('ann').thread('support').messages.list()
assert.deepEqual(
  messages.map(({ role }) => role),
  ['assistant', 'user'],
)
