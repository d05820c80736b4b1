/** Whole conversations with the official SDK of OpenAI, over HTTP, with tools of real servers. */
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { PROMPT, QUERY, READ, SUM, useModelHost } from '../../../../test/model-host.ts'
import {
  answerOpenAI,
  answerOpenAIChat,
  callAll,
  type OpenAIOptions,
  readOpenAI,
  readOpenAIChat,
  toOpenAI,
  toOpenAIChat,
} from '../../src/ai/openai/openai.ts'
import type { ModelRequest, ModelScript } from '../../src/testing/model-server/script.ts'
import type { Thread } from '../../src/thread.ts'

const { fixture, serve } = useModelHost()

const connect = async (script: ModelScript) => {
  const server = await serve(script)
  return { server, client: new OpenAI({ apiKey: 'key', baseURL: server.baseUrl.openai, maxRetries: 0 }) }
}

interface Talk {
  thread: Thread
  script: ModelScript
  search?: OpenAIOptions['search']
  stream?: boolean
  input?: OpenAI.Responses.ResponseInputItem[]
}

/** The loop of an app: as short as it can be, with nothing of ours but the form. */
async function talk({ thread, script, search = 'client', stream = false, input = [] }: Talk) {
  const { server, client } = await connect(script)
  input.push({ role: 'user', content: PROMPT })
  let selection = await thread.select({ prompt: PROMPT, limit: 1 })
  for (let step = 0; step < 10; step++) {
    const { tools } = toOpenAI(selection, { search, input })
    const request = { model: 'gpt-5.6', store: false, tools, input }
    const { output } = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    const { calls, loaded } = readOpenAI(selection, output)
    if (loaded.length > 0) await thread.load(loaded)
    if (calls.length === 0) break
    input.push(...answerOpenAI(selection, await callAll(calls, selection.call)))
    selection = selection.next()
  }
  server.done()
  return { input, requests: server.requests }
}

const last = ({ history }: ModelRequest) => history.at(-1)
const topLevel = ({ tools }: ModelRequest) => tools.map(({ type, name }) => name ?? type)

describe('the Loadout search for OpenAI', () => {
  const script = (): ModelScript => [
    {
      expect: (request) => {
        expect(topLevel(request)).toEqual(['read_result', 'tool_search', SUM])
        expect(request.tools[1]).toMatchObject({
          execution: 'client',
          description: expect.stringContaining('Finds more tools'),
          parameters: { type: 'object', properties: { query: { type: 'string' } } },
        })
      },
      answer: { searches: [{ arguments: { query: QUERY, limit: 2 } }] },
    },
    {
      expect: (request) => {
        expect(last(request)).toMatchObject({
          type: 'tool_search_output',
          execution: 'client',
          status: 'completed',
          tools: [{ type: 'namespace', name: 'filesystem', description: expect.stringContaining('read_text_file') }],
        })
        expect(topLevel(request)).toEqual(['read_result', 'tool_search', SUM])
      },
      answer: {
        calls: [
          { name: READ, arguments: { path: fixture().note } },
          { name: SUM, arguments: { a: 2, b: 3 } },
        ],
      },
    },
    {
      expect: (request) => {
        const calls = request.history.filter(({ type }) => type === 'function_call')
        expect(calls.map(({ namespace }) => namespace)).toEqual(['filesystem', undefined])
        const outputs = JSON.stringify(request.history.filter(({ type }) => type === 'function_call_output'))
        expect(outputs).toContain('The answer is 42.')
        expect(outputs).toContain('The sum of 2 and 3 is 5.')
        expect(topLevel(request)).toEqual(['read_result', 'tool_search', SUM])
      },
      answer: 'It is 42.',
    },
  ]

  it.each([false, true])('runs search, output, call, result and answer with streaming %s', async (stream) => {
    const thread = fixture().thread()
    const { input } = await talk({ thread, script: script(), stream })
    expect(input.at(-1)).toMatchObject({ type: 'message', content: [{ text: 'It is 42.' }] })
    expect((await thread.loaded()).map(({ ref }) => ref)).toContain('filesystem.read_text_file')
  })

  it('continues in the next prompt and calls a loaded tool from its namespace', async () => {
    const thread = fixture().thread()
    const { input } = await talk({ thread, script: script() })
    const { requests } = await talk({
      thread,
      input,
      script: [{ answer: { calls: [{ name: READ, arguments: { path: fixture().note } }] } }, { answer: 'Still 42.' }],
    })
    expect(topLevel(requests[0] as ModelRequest)).not.toContain(READ)
    expect(input.findLast((item) => item.type === 'function_call')).toMatchObject({ namespace: 'filesystem' })
  })

  it('continues after another provider that has no namespaces', async () => {
    const thread = fixture().thread()
    const { input } = await talk({ thread, script: script() })
    const bare = input.map((item) => {
      const { namespace: _, ...rest } = item as { namespace?: string }
      return rest as OpenAI.Responses.ResponseInputItem
    })
    const { requests } = await talk({ thread, input: bare, script: [{ answer: 'Still 42.' }] })
    expect(topLevel(requests[0] as ModelRequest)).toContain(READ)
  })

  it('does not make an unreadable call and reports it to the model', async () => {
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: SUM,
      arguments: '{"a": ',
      status: 'completed',
    }
    const { requests } = await talk({
      thread: fixture().thread(),
      script: [{ answer: { blocks: [call] } }, { answer: 'Sorry.' }],
    })
    expect(last(requests[1] as ModelRequest)).toMatchObject({
      type: 'function_call_output',
      call_id: 'call_1',
      output: expect.stringContaining(`The arguments of '${SUM}' cannot be read`),
    })
  })
})

describe("the provider's search", () => {
  it.each([false, true])('searches namespaces and reports the loaded tools with streaming %s', async (stream) => {
    const thread = fixture().thread()
    const all = (await thread.loadout()).tools.length
    const { input } = await talk({
      thread,
      search: 'server',
      stream,
      script: [
        {
          expect: (request) => {
            const spaces = request.tools.filter(({ type }) => type === 'namespace')
            expect(topLevel(request).slice(0, 3)).toEqual(['read_result', 'tool_search', SUM])
            expect(spaces.map(({ name }) => name)).toEqual(
              expect.arrayContaining(['everything', 'filesystem', 'filesystem_2']),
            )
            for (const { tools } of spaces) expect((tools as unknown[]).length).toBeLessThan(10)
            expect(request.deferredNames).toHaveLength(all - 1)
          },
          answer: {
            searches: [{ arguments: { paths: ['filesystem'] }, found: [READ] }],
            calls: [{ name: READ, arguments: { path: fixture().note } }],
          },
        },
        {
          expect: (request) => {
            expect(last(request)).toMatchObject({ type: 'function_call_output' })
            expect(JSON.stringify(last(request))).toContain('The answer is 42.')
            const [call] = request.history.filter(({ type }) => type === 'function_call')
            const space = request.tools.find(({ name }) => name === call?.namespace)
            expect(JSON.stringify(space)).toContain(`"${READ}"`)
          },
          answer: 'It is 42.',
        },
      ],
    })
    expect(input.slice(1, 4).map(({ type }) => type)).toEqual([
      'tool_search_call',
      'tool_search_output',
      'function_call',
    ])
    expect((await thread.loaded()).map(({ ref }) => ref)).toEqual(['filesystem.read_text_file'])
    // In the next prompt it is selected, and still where the conversation has it.
    const { requests } = await talk({ thread, search: 'server', input, script: [{ answer: 'Yes.' }] })
    expect(topLevel(requests[0] as ModelRequest)).not.toContain(READ)
    expect(requests[0]?.deferredNames).toContain(READ)
  })
})

describe('Chat Completions', () => {
  it.each([false, true])('run search, next request, call, result and answer with streaming %s', async (stream) => {
    const { server, client } = await connect([
      {
        expect: ({ toolNames }) => expect(toolNames).toEqual(['read_result', 'search_tools', SUM]),
        answer: { calls: [{ name: 'search_tools', arguments: { query: QUERY, limit: 1 } }] },
      },
      {
        expect: ({ toolNames }) => expect(toolNames).toEqual(['read_result', 'search_tools', SUM, READ]),
        answer: { calls: [{ name: READ, arguments: { path: fixture().note } }] },
      },
      {
        expect: ({ history }) => expect(JSON.stringify(history.at(-1))).toContain('The answer is 42.'),
        answer: 'It is 42.',
      },
    ])
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }]
    let selection = await fixture().thread().select({ prompt: PROMPT, limit: 1 })
    for (let step = 0; step < 10; step++) {
      const { tools } = toOpenAIChat(selection)
      const request = { model: 'gpt-5.6', messages, tools }
      const completion = stream
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request)
      const message = completion.choices[0]?.message as OpenAI.Chat.ChatCompletionMessage
      messages.push(message)
      const { calls } = readOpenAIChat(selection, message)
      if (calls.length === 0) break
      messages.push(...answerOpenAIChat(selection, await callAll(calls, selection.call)))
      selection = selection.next()
    }
    server.done()
    expect(messages.at(-1)?.content).toBe('It is 42.')
  })
})
