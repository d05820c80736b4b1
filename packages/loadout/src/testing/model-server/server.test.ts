import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelScript } from './script.ts'
import { type ModelServer, startModelServer } from './server.ts'

const open: ModelServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

async function start(script: ModelScript, options = {}) {
  const server = await startModelServer(script, options)
  open.push(server)
  const anthropic = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
  const openai = new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 })
  return { server, anthropic, openai }
}

const weather = { name: 'weather', input_schema: { type: 'object' as const } }
const ask = { model: 'claude', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] }
const fn = (name: string, more: object = {}) => ({
  type: 'function' as const,
  name,
  parameters: { type: 'object' },
  strict: false,
  ...more,
})

describe('a scripted model', () => {
  it('gives the same answer streamed and unstreamed through each API', async () => {
    const turn = { text: 'Let me look at the weather.', calls: [{ name: 'weather', arguments: { city: 'Ulm' } }] }
    const { server, anthropic, openai } = await start(() => turn)
    const whole = await anthropic.messages.create({ ...ask, tools: [weather] })
    const streamed = await anthropic.messages.stream({ ...ask, tools: [weather] }).finalMessage()
    const plain = (content: Anthropic.ContentBlock[]) => content.map((block) => ({ ...block, id: '' }))
    expect(plain(streamed.content)).toEqual(plain(whole.content))
    expect(streamed.content[1]).toMatchObject({ type: 'tool_use', name: 'weather', input: { city: 'Ulm' } })
    expect([whole.stop_reason, streamed.stop_reason]).toEqual(['tool_use', 'tool_use'])

    const request = { model: 'gpt', input: 'hi', tools: [fn('weather')] }
    const response = await openai.responses.create(request)
    const events = openai.responses.stream(request)
    const final = await events.finalResponse()
    expect([response.output_text, final.output_text]).toEqual([turn.text, turn.text])
    expect(final.output[1]).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{"city":"Ulm"}' })

    const chat = {
      model: 'gpt',
      messages: [{ role: 'user' as const, content: 'hi' }],
      tools: [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }],
    }
    const { choices } = await openai.chat.completions.create(chat)
    const last = await openai.chat.completions.stream(chat).finalChatCompletion()
    const call = { type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }
    for (const choice of [choices[0], last.choices[0]]) {
      expect(choice?.message.content).toBe(turn.text)
      expect(choice?.message.tool_calls?.[0]).toMatchObject(call)
      expect(choice?.finish_reason).toBe('tool_calls')
    }
    expect(server.requests.map(({ api, stream, status }) => [api, stream, status])).toEqual(
      ['anthropic', 'responses', 'chat'].flatMap((api) => [
        [api, false, 200],
        [api, true, 200],
      ]),
    )
  })

  it('follows the steps of its script and reports unmet steps', async () => {
    const { server, anthropic } = await start([
      { answer: 'one' },
      { expect: ({ body }) => expect(body.max_tokens).toBe(7), answer: 'two' },
      { answer: 'three' },
    ])
    expect((await anthropic.messages.create(ask)).content[0]).toMatchObject({ text: 'one' })
    expect(() => server.done()).toThrow('2 steps of the script were not asked for.')
    await expect(anthropic.messages.create(ask)).rejects.toThrow('did not expect this request')
    expect(() => server.done()).toThrow('expected 100 to be 7')
    await anthropic.messages.create(ask)
    await expect(anthropic.messages.create(ask)).rejects.toThrow('It has 3 steps, and this is request 4.')
  })

  it('calls only tools from the request unless a call is marked as made up', async () => {
    const { server, anthropic } = await start([
      { answer: { calls: [{ name: 'gone' }] } },
      { answer: { calls: [{ name: 'gone', madeUp: true }] } },
    ])
    await expect(anthropic.messages.create({ ...ask, tools: [weather] })).rejects.toThrow("no tool 'gone'")
    expect((await anthropic.messages.create({ ...ask, tools: [weather] })).content[0]).toMatchObject({ name: 'gone' })
    expect(() => server.done()).toThrow("no tool 'gone'")
  })

  it('returns raw responses such as outages, limits and partial streams', async () => {
    const { anthropic, openai } = await start([
      {
        answer: { raw: { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } } } },
      },
      {
        answer: {
          raw: { headers: { 'content-type': 'text/event-stream' }, body: 'event: ping\ndata: {"type":"ping"}\n\n' },
        },
      },
    ])
    await expect(anthropic.messages.create(ask)).rejects.toMatchObject({ status: 529, type: 'overloaded_error' })
    const events: unknown[] = []
    for await (const event of await openai.responses.create({ model: 'gpt', input: 'x', stream: true }))
      events.push(event)
    expect(events).toEqual([{ type: 'ping' }])
  })

  it('returns custom fields and blocks, streamed and unstreamed', async () => {
    const program = { type: 'program', id: 'prog_1', call_id: 'call_1', code: 'return 1', fingerprint: 'f' }
    const code = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } }
    const container = { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' }
    const { anthropic, openai } = await start(({ api }) =>
      api === 'anthropic' ? { blocks: [code], more: { container } } : { blocks: [program], text: 'ran' },
    )
    for (const message of [await anthropic.messages.create(ask), await anthropic.messages.stream(ask).finalMessage()])
      expect(message).toMatchObject({ container, content: [code] })
    const request = { model: 'gpt', input: 'hi' }
    for (const response of [
      await openai.responses.create(request),
      await openai.responses.stream(request).finalResponse(),
    ])
      expect(response.output).toMatchObject([program, { type: 'message' }])
  })

  it('records a client disconnect and closes while a stream is open', async () => {
    const { server, anthropic } = await start(() => 'a long story '.repeat(50), { paceMs: 20 })
    for await (const event of anthropic.messages.stream(ask)) if (event.type === 'content_block_delta') break
    await expect.poll(() => server.requests[0]?.aborted).toBe(true)
    const left = anthropic.messages.stream(ask).finalMessage()
    await expect.poll(() => server.requests.length).toBe(2)
    await server.close()
    await expect(left).rejects.toThrow()
  })

  it('requires the configured API key and the Anthropic version header', async () => {
    const { server } = await start(() => 'hello', { apiKey: 'right' })
    const wrong = new OpenAI({ apiKey: 'wrong', baseURL: server.baseUrl.openai, maxRetries: 0 })
    await expect(wrong.responses.create({ model: 'gpt', input: 'x' })).rejects.toMatchObject({ status: 401 })
    const post = (path: string, headers: Record<string, string>) =>
      fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(ask) })
    expect((await post('/v1/messages', {})).status).toBe(401)
    const versionless = await post('/v1/messages', { 'x-api-key': 'right' })
    expect([versionless.status, (await versionless.json()).error.message]).toEqual([
      400,
      'anthropic-version: header is required',
    ])
    expect((await post('/v2/other', {})).status).toBe(404)
  })

  it('rejects a body that is invalid JSON or too large', async () => {
    const { server } = await start(() => 'hello', { maxBytes: 100 })
    const post = (body: string) => fetch(`${server.url}/v1/responses`, { method: 'POST', body })
    expect((await post('{')).status).toBe(400)
    expect((await post(JSON.stringify({ input: 'x'.repeat(200) }))).status).toBe(413)
  })

  it('stores its responses and resolves references to them by id', async () => {
    const { server, openai } = await start(() => 'hello')
    const first = await openai.responses.create({ model: 'gpt', input: 'one' })
    await openai.responses.create({ model: 'gpt', input: 'two', previous_response_id: first.id })
    await openai.responses.create({
      model: 'gpt',
      input: [
        { type: 'item_reference', id: first.output[0]?.id as string },
        { role: 'user', content: 'three' },
      ],
    })
    expect(server.requests[1]?.history.map(({ content }) => content)).toEqual([
      'one',
      [expect.objectContaining({ text: 'hello' })],
      'two',
    ])
    expect(server.requests[2]?.history[0]).toMatchObject({ type: 'message', role: 'assistant' })
    const unknown = { model: 'gpt', input: 'x', previous_response_id: 'resp_0' }
    await expect(openai.responses.create(unknown)).rejects.toMatchObject({ code: 'previous_response_not_found' })
  })
})
