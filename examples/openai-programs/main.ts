/** OpenAI runs a program over Loadout's tools. Its calls are steps of a run, and their data never reach the model. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openSales, sales } from '../shop.ts'

const model = await startModelServer([
  { answer: { programs: [{ code: 'for (const region of regions) …', calls: [sales('west'), sales('east')] }] } },
  { answer: { programs: [{ output: 'west' }], text: 'The west sold the most.' } },
])
const connection = { apiKey: 'key', baseURL: model.baseUrl.openai }
await using host = await openSales()
const thread = host.user('ann').thread('support')

//#region example
import { answerOpenAI, callAll, readOpenAI, toOpenAI } from '@loadout/core/ai/openai'
import OpenAI from 'openai'

const client = new OpenAI(connection)
const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Which region sold the most?' }]
const selection = await thread.select({ prompt: 'Which region sold the most?' })
for (;;) {
  const { tools } = toOpenAI(selection, { input, programs: true })
  const { output } = await client.responses.create({ model: 'gpt-5.6', store: false, tools, input })
  input.push(...(output as OpenAI.Responses.ResponseInputItem[])) // unchanged: fingerprints and callers must not change
  const turn = readOpenAI(selection, output)
  await selection.follow(turn.programs) // each is a run, which ends when its output is there
  if (turn.calls.length === 0) break
  input.push(...answerOpenAI(selection, await callAll(turn.calls, selection.call), { programs: true }))
}
//#endregion
model.done()
await model.close()
const { runs } = host.user('ann')
const [run] = await runs.list()
assert.ok(run)
const { status, output, steps } = await runs.get(run.id)
assert.deepEqual([status, output, steps.length], ['completed', 'west', 3])
const answers = input.filter((item) => item.type === 'function_call_output')
assert.deepEqual(
  answers.map(({ output }) => output),
  ['{"total":3}', '{"total":2}'],
)
