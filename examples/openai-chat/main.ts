/** OpenAI Chat Completions, which many providers offer: the tools that a search found are in the next request. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const model = await startModelServer([
  { answer: { calls: [{ name: 'search_tools', arguments: { query: 'give money back' } }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const connection = { apiKey: 'key', baseURL: model.baseUrl.openai }
await using host = await openShop()
const thread = host.user('ann').thread('support')

//#region example
import { answerOpenAIChat, callAll, readOpenAIChat, toOpenAIChat } from '@loadout/core/openai'
import OpenAI from 'openai'

const client = new OpenAI(connection)
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
  { role: 'user', content: 'Which orders are there? Cancel the first.' },
]
let selection = await thread.select({ prompt: 'Which orders are there?', limit: 1 })
for (;;) {
  const { tools } = toOpenAIChat(selection)
  const { choices } = await client.chat.completions.create({ model: 'gpt-5.6', tools, messages })
  const message = choices[0]?.message
  if (!message) break
  messages.push(message)
  const { calls } = readOpenAIChat(selection, message)
  if (calls.length === 0) break
  messages.push(...answerOpenAIChat(selection, await callAll(calls, selection.call)))
  selection = selection.next() // with the found tools
}
//#endregion
model.done()
await model.close()
assert.deepEqual(
  model.requests.map(({ toolNames }) => toolNames.length),
  [3, 4, 4],
)
assert.match(JSON.stringify(messages), /a-1 is paid back/)
