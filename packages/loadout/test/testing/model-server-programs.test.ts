/** Programs of the scripted model: what it says of them is what the APIs say, and what must come back as it was is looked at. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelScript } from '../../src/testing/model-server/script.ts'
import { type ModelServer, startModelServer } from '../../src/testing/model-server/server.ts'

const VERSION = 'code_execution_20260120'
type Block = Record<string, unknown>

let server: ModelServer
let anthropic: Anthropic
let openai: OpenAI
/** The first request begins a program, every other ends it. */
const script: ModelScript = ({ history }) =>
  JSON.stringify(history).includes('code_execution"') || JSON.stringify(history).includes('"program"')
    ? { programs: [{ output: '3' }], text: 'taken' }
    : { programs: [{ code: 'find()', calls: [{ name: 'find', arguments: { x: 1 } }] }] }
beforeAll(async () => {
  server = await startModelServer(script)
  anthropic = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
  openai = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
})
afterAll(() => server.close())

const reason = async (sent: Promise<unknown>) => {
  const error = await sent.then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  return error?.message ?? 'taken'
}

describe('Anthropic Messages', () => {
  const code = { type: VERSION, name: 'code_execution' }
  const find = { name: 'find', input_schema: { type: 'object' }, allowed_callers: [VERSION] }
  const user = { role: 'user', content: 'x' }
  const send = (body: object): Promise<Anthropic.Message> =>
    anthropic.messages.create({ model: 'm', max_tokens: 1, tools: [code, find], messages: [user], ...body } as never)
  const begin = async () => {
    const { content, container } = await send({})
    const use = content.find(({ type }) => type === 'tool_use') as Anthropic.ToolUseBlock
    const result = { type: 'tool_result', tool_use_id: use.id, content: '{}' }
    return { content: content as unknown as Block[], container: container?.id, use, result }
  }
  const go = (content: unknown, answer: unknown, more: object) =>
    send({ messages: [user, { role: 'assistant', content }, { role: 'user', content: answer }], ...more })

  it('pauses a program in a container for its call and completes it with the result', async () => {
    const { content, container, use, result } = await begin()
    expect(content).toMatchObject([
      { type: 'server_tool_use', name: 'code_execution', input: { code: 'find()' }, caller: { type: 'direct' } },
      { type: 'tool_use', name: 'find', caller: { type: VERSION, tool_id: content[0]?.id } },
    ])
    expect(use.input).toEqual({ x: 1 })
    const over = await go(content, [result], { container })
    expect(over).toMatchObject({
      content: [{ type: 'code_execution_tool_result', content: { stdout: '3', return_code: 0 } }, { text: 'taken' }],
      container: { id: container },
      stop_reason: 'end_turn',
    })
  })

  it('rejects an invalid program request or continuation', async () => {
    const { content, container, result } = await begin()
    const [program, use] = content as [Block, Block]
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    const { caller: _, ...bare } = use
    const cases: Array<[string, Promise<unknown>]> = [
      ['only `tool_result` blocks', go(content, [result, { type: 'text', text: 'And?' }], { container })],
      ['text only', go(content, [{ ...result, content: [image] }], { container })],
      ['container: required', go(content, [result], {})],
      ['not found', go(content, [result], { container: 'container_x' })],
      ['is not what it was', go([program, bare], [result], { container })],
      ['names no `server_tool_use`', go([use], [result], {})],
      ["needs a tool of type 'code_execution_20260120'", send({ tools: [find] })],
      ['`strict: true` cannot be called', send({ tools: [code, { ...find, strict: true }] })],
      ['not supported with programmatic', send({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } })],
    ]
    for (const [text, sent] of cases) expect(await reason(sent)).toContain(text)
  })
})

describe('OpenAI Responses', () => {
  const find = {
    type: 'function',
    name: 'find',
    parameters: { type: 'object' },
    strict: false,
    allowed_callers: ['direct', 'programmatic'],
  }
  const tools = [find, { type: 'programmatic_tool_calling' }]
  const user = { role: 'user', content: 'x' }
  const send = (input: unknown[], more: object = {}): Promise<OpenAI.Responses.Response> =>
    openai.responses.create({ model: 'm', store: false, tools, input, ...more } as never)
  const begin = async () => {
    const { output } = await send([user])
    const [program, call] = output as unknown as [Block, Block]
    const result = { type: 'function_call_output', call_id: call.call_id, output: '{}', caller: call.caller }
    return { program, call, result }
  }

  it('pauses a program for its call and completes it with the output', async () => {
    const { program, call, result } = await begin()
    expect(program).toMatchObject({ type: 'program', code: 'find()', fingerprint: expect.any(String) })
    expect(call).toMatchObject({ type: 'function_call', caller: { type: 'program', caller_id: program.call_id } })
    const { output } = await send([user, program, call, result])
    expect(output).toMatchObject([
      { type: 'program_output', call_id: program.call_id, result: '3', status: 'completed' },
      { type: 'message' },
    ])
  })

  it('rejects an invalid program request or continuation', async () => {
    const { program, call, result } = await begin()
    const without = ({ caller: _, ...rest }: Block) => rest
    const cases: Array<[string, Promise<unknown>]> = [
      ['does not match its fingerprint', send([user, { ...program, fingerprint: 'other' }, call, result])],
      ['does not match its fingerprint', send([user, { ...program, code: 'other()' }, call, result])],
      [
        "Missing required parameter: 'input[1].fingerprint'",
        send([user, { ...program, fingerprint: undefined }, call, result]),
      ],
      ['is not what it was', send([user, program, without(call), result])],
      ['No program found', send([user, call, result])],
      ['must carry the caller', send([user, program, call, without(result)])],
      ["needs the 'programmatic_tool_calling' tool", send([user], { tools: [find] })],
    ]
    for (const [text, sent] of cases) expect(await reason(sent)).toContain(text)
  })
})
