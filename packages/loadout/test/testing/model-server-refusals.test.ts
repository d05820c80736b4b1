/** What the APIs refuse, the scripted model refuses, with their status and words; no step is used for it. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'

let server: ModelServer
let anthropic: Anthropic
let openai: OpenAI
beforeAll(async () => {
  server = await startModelServer(() => 'taken')
  anthropic = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
  openai = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
})
afterAll(() => server.close())

const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: 'object' as const }, ...more })
const late = (name: string) => tool(name, { defer_loading: true })
const user = (content: unknown) => ({ role: 'user', content })
const model = (...content: object[]) => ({ role: 'assistant', content })
const use = { type: 'tool_use', id: 'toolu_1', name: 'find', input: {} }
const result = (content: unknown) => user([{ type: 'tool_result', tool_use_id: 'toolu_1', content }])
const reference = (tool_name: string) => ({ type: 'tool_reference', tool_name })
const bm25 = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }
const searched = (...names: string[]) => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: bm25.name, input: { query: 'x' } },
  {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'tool_search_tool_search_result', tool_references: names.map(reference) },
  },
]

describe('Anthropic Messages rejects', () => {
  const send = (body: object) =>
    anthropic.messages.create({ model: 'm', max_tokens: 1, messages: [user('x')], ...body } as never)
  const refused: Array<[string, object, string]> = [
    ['tools that are all deferred', { tools: [late('a'), late('b')] }, 'At least one tool must be non-deferred.'],
    [
      'a search tool that is deferred',
      { tools: [tool('a'), { ...bm25, defer_loading: true }] },
      'tools.1: a tool search',
    ],
    ['a name that is too long', { tools: [tool('a'.repeat(129))] }, 'tools.0.custom.name: String should match pattern'],
    ['a name twice', { tools: [tool('a'), tool('a')] }, 'tools: Tool names must be unique.'],
    ['a schema that is no object', { tools: [{ name: 'a', input_schema: { type: 'array' } }] }, "should be 'object'"],
    ['no messages', { messages: [] }, 'messages: at least one message is required'],
    [
      'a call without its result',
      { tools: [tool('find')], messages: [user('x'), model(use), user('y')] },
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.',
    ],
    [
      'a result without its call',
      { messages: [result('x')] },
      'unexpected `tool_use_id` found in `tool_result` blocks',
    ],
    [
      'a reference that nothing defines',
      { tools: [tool('find')], messages: [user('x'), model(use), result([reference('a')])] },
      "Tool reference 'a' has no corresponding tool definition",
    ],
    [
      'a reference to what is not deferred',
      { tools: [tool('find'), tool('a')], messages: [user('x'), model(use), result([reference('a')])] },
      "Tool reference 'a' must have defer_loading set",
    ],
    [
      'a reference of its own search that nothing defines any more',
      { tools: [bm25, tool('find')], messages: [user('x'), model(...searched('a')), user('y')] },
      "Tool reference 'a' has no corresponding tool definition",
    ],
    [
      'its own search without what it found',
      { tools: [bm25], messages: [user('x'), model(...searched().slice(0, 1)), user('y')] },
      '`tool_search_tool_bm25` tool use with id `srvtoolu_1` was found without',
    ],
  ]
  it.each(refused)('%s', async (_, body, message) => {
    await expect(send(body)).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining(message),
    })
  })

  it('more tools than the limit with an error code', async () => {
    const tools = [tool('find'), ...Array.from({ length: 10_000 }, (_, index) => late(`t${index}`))]
    await expect(send({ tools })).rejects.toMatchObject({ errorCode: 'available_tools_limit_exceeded' })
    await expect(send({ tools: tools.slice(0, 10_000) })).resolves.toBeTruthy()
  })

  it('no valid request', async () => {
    const client = { tools: [tool('find'), late('a')], messages: [user('x'), model(use), result([reference('a')])] }
    const own = { tools: [bm25, late('a')], messages: [user('x'), model(...searched('a')), user('y')] }
    for (const body of [client, own]) await expect(send(body)).resolves.toMatchObject({ stop_reason: 'end_turn' })
  })
})

const fn = (name: string, more: object = {}) => ({ type: 'function', name, parameters: { type: 'object' }, ...more })
const call = { type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'x' }
const search = { type: 'tool_search_call', execution: 'client', call_id: 'call_1', arguments: {}, status: 'completed' }
const found = (...tools: object[]) => ({ type: 'tool_search_output', execution: 'client', call_id: 'call_1', tools })
const space = (...tools: object[]) => ({ type: 'namespace', name: 'space', description: 'x', tools })
const client = { type: 'tool_search', execution: 'client' }

describe('OpenAI Responses rejects', () => {
  const send = (body: object) => openai.responses.create({ model: 'm', input: [user('x')], ...body } as never)
  const long = 'a'.repeat(65)
  const refused: Array<[string, object, object]> = [
    [
      'more than 128 tools',
      { tools: Array.from({ length: 129 }, (_, index) => fn(`t${index}`)) },
      { code: 'array_above_max_length', param: 'tools' },
    ],
    ['a name that is too long', { tools: [fn(long)] }, { code: 'string_above_max_length', param: 'tools[0].name' }],
    ['such a name in a namespace', { tools: [space(fn(long))] }, { param: 'tools[0].tools[0].name' }],
    ['a name with a dot', { tools: [fn('a.b')] }, { code: 'invalid_value' }],
    ['deferred tools without a search', { tools: [fn('a', { defer_loading: true })] }, { param: 'tools' }],
    ['a call without its output', { input: [call] }, { message: expect.stringContaining('No tool output found') }],
    ['an output without its call', { input: [output] }, { message: expect.stringContaining('No tool call found') }],
    ['a search without its output', { tools: [client], input: [search] }, { param: 'input' }],
    [
      'a call that lost its namespace',
      {
        tools: [client],
        input: [search, found(space(fn('a'))), { ...call, call_id: 'call_2' }, { ...output, call_id: 'call_2' }],
      },
      { param: 'input[2].namespace', message: expect.stringContaining("Missing namespace for function_call 'a'") },
    ],
  ]
  it.each(refused)('%s', async (_, body, error) => {
    await expect(send(body)).rejects.toMatchObject({ status: 400, type: 'invalid_request_error', ...error })
  })
})

describe('OpenAI Chat Completions rejects', () => {
  const send = (body: object) => openai.chat.completions.create({ model: 'm', messages: [user('x')], ...body } as never)
  const asked = {
    role: 'assistant',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } }],
  }
  const refused: Array<[string, object, object]> = [
    [
      'more than 128 tools',
      { tools: Array.from({ length: 129 }, (_, index) => ({ type: 'function', function: { name: `t${index}` } })) },
      { code: 'array_above_max_length' },
    ],
    [
      'a name that is too long',
      { tools: [{ type: 'function', function: { name: 'a'.repeat(65) } }] },
      { code: 'string_above_max_length' },
    ],
    [
      'a call without its answer',
      { messages: [user('x'), asked, user('y')] },
      { message: expect.stringContaining('call_1') },
    ],
    [
      'an answer without its call',
      { messages: [user('x'), { role: 'tool', tool_call_id: 'call_1', content: 'x' }] },
      { param: 'messages.[1].role' },
    ],
  ]
  it.each(refused)('%s', async (_, body, error) => {
    await expect(send(body)).rejects.toMatchObject({ status: 400, type: 'invalid_request_error', ...error })
  })
})
