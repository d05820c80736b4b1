/** OpenAI's SDK with deferred tools: Loadout's search answers `tool_search` with definitions. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openShop } from '../shop.ts'

const model = await startModelServer([
  { answer: { searches: [{ arguments: { query: 'give money back' } }] } },
  { answer: { calls: [{ name: 'mcp_shop_refund', arguments: { order: 'a-1' } }] } },
  { answer: 'The money is on its way.' },
])
const connection = { apiKey: 'key', baseURL: model.baseUrl.openai }
await using host = await openShop()
const thread = host.user('ann').thread('support')

//#region example
import { answerOpenAI, callAll, readOpenAI, toOpenAI } from '@loadout/core/ai/openai'
import OpenAI from 'openai'

const client = new OpenAI(connection)
const input: OpenAI.Responses.ResponseInputItem[] = [
  { role: 'user', content: 'Which orders are there? Cancel the first.' },
]
let selection = await thread.select({ prompt: 'Which orders are there?', limit: 1 })
for (;;) {
  const { tools } = toOpenAI(selection, { input })
  const { output } = await client.responses.create({ model: 'gpt-5.6', store: false, tools, input })
  input.push(...(output as OpenAI.Responses.ResponseInputItem[])) // unchanged: a call without its namespace is rejected
  const { calls } = readOpenAI(selection, output)
  if (calls.length === 0) break
  input.push(...answerOpenAI(selection, await callAll(calls, selection.call)))
  selection = selection.next() // with the found tools
}
//#endregion
model.done()
await model.close()
assert.deepEqual(
  model.requests.map(({ tools }) => tools.map(({ name, type }) => name ?? type)),
  Array.from({ length: 3 }, () => ['read_result', 'tool_search', 'mcp_shop_orders']),
)
const call = input.find((item) => item.type === 'function_call')
assert.equal(call && 'namespace' in call && call.namespace, 'shop')
assert.match(JSON.stringify(input), /a-1 is paid back/)
