/** Schemas in forms: projection on request, reported losses, and restored arguments. */
import { expect, it } from 'vitest'
import { createServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import { toAnthropic } from '../anthropic/anthropic.ts'
import { callAll, readOpenAI, readOpenAIChat, toOpenAI, toOpenAIChat } from '../openai/openai.ts'
import { toAI } from '../to-ai.ts'

const received: unknown[] = []
const execute = (input: unknown) => {
  received.push(input)
  return 'done'
}
const find = {
  type: 'object',
  properties: { text: { type: 'string' }, limit: { type: 'integer' } },
  required: ['text'],
}
const env = { type: 'object', properties: { env: { type: 'object', additionalProperties: { type: 'string' } } } }
const odd = { type: 'object', properties: { 'a b': { type: 'string' } } }

async function select() {
  const host = createServices({ policy: [rule('*', 'allow')] })
  const tools = [
    { name: 'find', inputSchema: find, execute },
    { name: 'set', inputSchema: env, execute },
    { name: 'odd', inputSchema: odd, execute },
  ]
  await host.toolkits.register({ name: 'kit', tools, deferLoading: false }, { tier: 'app' })
  return { host, selection: await host.thread({ userId: 'ann', threadId: 't' }).select({ prompt: '' }) }
}
const [FIND, SET, ODD] = ['mcp_kit_find', 'mcp_kit_set', 'mcp_kit_odd']

it('schemas are projected only on request', async () => {
  const { host, selection } = await select()
  expect(toOpenAI(selection)).toMatchObject({
    lost: [],
    tools: [{ parameters: find, strict: false }, {}, {}, { name: 'read_result' }],
  })
  expect(toAnthropic(selection).lost).toEqual([])
  expect(toAI(selection).lost).toEqual([])
  await host.close()
})

it('OpenAI tools are strict if the strict schema covers the tool, and unchanged otherwise', async () => {
  const { host, selection } = await select()
  const { tools, lost } = toOpenAI(selection, { schemas: 'openai-strict' })
  const of = (name: string) => tools.find((tool) => 'name' in tool && tool.name === name)
  expect(of(FIND)).toMatchObject({
    strict: true,
    parameters: { required: ['text', 'limit'], additionalProperties: false },
  })
  expect(of(SET)).toMatchObject({ strict: false, parameters: env })
  expect(lost.map(({ ref, path }) => [ref, path])).toContainEqual(['kit.set', '/properties/env'])
  const written = '{"text":"x","limit":null}'
  const call = { type: 'function_call', call_id: 'c', name: FIND, arguments: written }
  const { calls } = readOpenAI(selection, [call], { schemas: 'openai-strict' })
  const [completed] = await callAll(calls, selection.call)
  expect([completed?.outcome.status, received.at(-1)]).toEqual(['ok', { text: 'x' }])
  const chat = toOpenAIChat(selection, { schemas: 'openai-strict' })
  expect(chat.tools.map(({ function: { name, strict } }) => [name, strict])).toEqual([
    [FIND, true],
    [SET, undefined],
    [ODD, true],
    ['read_result', true],
  ])
  const message = { tool_calls: [{ id: 'c', type: 'function', function: { name: FIND, arguments: written } }] }
  expect(readOpenAIChat(selection, message, { schemas: 'openai-strict' }).calls[0]?.arguments).toEqual({ text: 'x' })
  expect(readOpenAIChat(selection, message).calls[0]?.arguments).toEqual({ text: 'x', limit: null })
  await host.close()
})

it('Anthropic tools omit schema parts that the API rejects and report them', async () => {
  const { host, selection } = await select()
  const { tools, lost } = toAnthropic(selection, { schemas: 'anthropic' })
  expect(tools.find((tool) => tool.name === ODD)).toMatchObject({ input_schema: { type: 'object', properties: {} } })
  expect(lost).toEqual([expect.objectContaining({ ref: 'kit.odd', path: '/properties/a b', narrows: true })])
  await host.close()
})

it('a strict AI SDK tool is called with the original arguments', async () => {
  const { host, selection } = await select()
  const { tools } = toAI(selection, { schemas: 'openai-strict' })
  const tool = tools[FIND]
  expect(tool?.strict).toBe(true)
  const options = { toolCallId: 'c', messages: [], context: {} }
  await tool?.execute?.({ text: 'y', limit: null }, options as never)
  expect(received.at(-1)).toEqual({ text: 'y' })
  await host.close()
})
