/** Anthropic runs a program over Loadout's tools. Its calls are steps of a run, and their data never reach the model. A scripted model replaces the real one. */
import assert from 'node:assert/strict'
import { startModelServer } from '@loadout/core/testing'
import { openSales, sales } from '../shop.ts'

const model = await startModelServer([
  { answer: { programs: [{ code: 'for region in ["west", "east"]: …', calls: [sales('west')] }] } },
  { answer: { programs: [{ calls: [sales('east')] }] } },
  { answer: { programs: [{ output: 'west' }], text: 'The west sold the most.' } },
])
const connection = { apiKey: 'key', baseURL: model.baseUrl.anthropic }
await using host = await openSales()
const thread = host.user('ann').thread('support')

//#region example
import Anthropic from '@anthropic-ai/sdk'
import { answerAnthropic, callAll, readAnthropic, toAnthropic } from '@loadout/core/ai/anthropic'

const client = new Anthropic(connection)
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Which region sold the most?' }]
const selection = await thread.select({ prompt: 'Which region sold the most?' })
let container: string | undefined
for (;;) {
  const { tools } = toAnthropic(selection, { messages, programs: 'code_execution_20260120' })
  const message = await client.messages.create({
    model: 'claude-opus-5-5',
    max_tokens: 1000,
    tools,
    messages,
    ...(container ? { container } : {}), // a paused program needs it
  })
  messages.push({ role: 'assistant', content: message.content })
  const turn = readAnthropic(selection, message)
  container = turn.container?.id ?? container
  await selection.follow(turn.programs) // each is a run, which ends when its result is there
  if (turn.calls.length === 0) break
  messages.push(answerAnthropic(selection, await callAll(turn.calls, selection.call)))
}
//#endregion
model.done()
await model.close()
const { runs } = host.user('ann')
const [run] = await runs.list()
assert.ok(run)
const { status, output, steps } = await runs.get(run.id)
assert.deepEqual([status, output], ['completed', 'west'])
assert.deepEqual(
  steps.map(({ kind, request }) => [kind, (request as { arguments?: unknown }).arguments]),
  [
    ['program', undefined],
    ['call', { region: 'west' }],
    ['call', { region: 'east' }],
  ],
)
