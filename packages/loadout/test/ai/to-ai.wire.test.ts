/** Whole generations of the AI SDK, over HTTP, with tools of real servers: each way in which what waits is found. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, type LanguageModel, type ModelMessage, streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { PROMPT, QUERY, READ, SUM, useModelHost } from '../../../../test/model-host.ts'
import { type AISearch, toAI } from '../../src/ai/to-ai.ts'
import type { CallOutcome } from '../../src/calls/call.ts'
import type { ModelRequest, ModelScript, ModelStep } from '../../src/testing/model-server/script.ts'
import type { ModelServer } from '../../src/testing/model-server/server.ts'
import type { Thread } from '../../src/thread.ts'

const { fixture, serve } = useModelHost()

/** Never asked for anything but their tools and models. */
const anthropicAt = (baseURL: string) => createAnthropic({ apiKey: 'key', baseURL })
const openaiAt = (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL })
const { tools: anthropicTools } = anthropicAt('http://localhost')
const { tools: openaiTools } = openaiAt('http://localhost')

interface Talk {
  thread?: Thread
  script: ModelScript
  model: (server: ModelServer) => LanguageModel
  search?: AISearch
  stream?: boolean
  messages?: ModelMessage[]
}

async function talk({ thread = fixture().thread(), script, model, search, stream = false, messages = [] }: Talk) {
  const server = await serve(script)
  const selection = await thread.select({ prompt: PROMPT, limit: 1 })
  const calls: string[] = []
  const counted = {
    ...selection,
    call: (call: Parameters<typeof selection.call>[0]): Promise<CallOutcome> => {
      calls.push(call.name)
      return selection.call(call)
    },
  }
  const all: ModelMessage[] = [...messages, { role: 'user', content: PROMPT }]
  const settings = {
    model: model(server),
    messages: all,
    maxRetries: 0,
    stopWhen: isStepCount(6),
    ...toAI(counted, { ...(search ? { search } : {}), messages }),
  }
  const result = stream ? await collected(streamText(settings)) : await generateText(settings)
  server.done()
  return { text: result.text, calls, requests: server.requests, messages: [...all, ...result.responseMessages] }
}

async function collected(result: ReturnType<typeof streamText>) {
  await result.consumeStream()
  return { text: await result.text, responseMessages: await result.responseMessages }
}

const last = ({ history }: ModelRequest) => history.at(-1)
const claude = (server: ModelServer) => anthropicAt(server.baseUrl.aiSdkAnthropic)('claude-opus-5-5')
const gpt = (server: ModelServer) => openaiAt(server.baseUrl.openai).responses('gpt-5.6')
const chat = (server: ModelServer) => openaiAt(server.baseUrl.openai).chat('gpt-5.6')

const read = { name: READ, arguments: { path: '' } }
const readsIt = () => ({ calls: [{ ...read, arguments: { path: fixture().note } }] })
const saysIt: ModelStep = {
  expect: (request) => expect(JSON.stringify(last(request))).toContain('The answer is 42.'),
  answer: 'It is 42.',
}

describe.each<AISearch>([{ by: 'steps' }, { by: 'ai-sdk' }])('with any model, $by', (search) => {
  for (const [name, model] of Object.entries({ claude, gpt, chat }))
    it.each([false, true])(
      `${name} runs search, next step, call, result and answer with streaming %s`,
      async (stream) => {
        const { text, calls, requests } = await talk({
          model,
          stream,
          search,
          script: [
            {
              expect: ({ toolNames }) => expect(toolNames.sort()).toEqual([SUM, 'read_result', 'search_tools'].sort()),
              answer: { calls: [{ name: 'search_tools', arguments: { query: QUERY } }] },
            },
            {
              expect: ({ toolNames, deferredNames }) => {
                expect(toolNames).toContain(READ)
                expect(deferredNames).toEqual([])
              },
              answer: readsIt(),
            },
            saysIt,
          ],
        })
        expect(text).toBe('It is 42.')
        expect(calls).toEqual(['search_tools', READ])
        // A model that is not told that there is more says that it cannot.
        for (const { body } of requests)
          expect(JSON.stringify(body)).toMatch(/more tools than you are shown, of: [^"]*filesystem/)
      },
    )
})

describe('the AI SDK with Anthropic', () => {
  const script = (): ModelScript => [
    {
      expect: ({ toolNames, deferredNames }) => {
        expect(toolNames.filter((name) => !deferredNames.includes(name)).sort()).toEqual(
          [SUM, 'read_result', 'search_tools'].sort(),
        )
        expect(deferredNames).toContain(READ)
      },
      answer: { calls: [{ name: 'search_tools', arguments: { query: QUERY } }] },
    },
    {
      expect: (request) =>
        expect(last(request)?.content).toMatchObject([
          { content: expect.arrayContaining([{ type: 'tool_reference', tool_name: READ }]) },
        ]),
      answer: readsIt(),
    },
    saysIt,
  ]

  it.each([false, true])('returns references from the Loadout search with streaming %s', async (stream) => {
    const thread = fixture().thread()
    const { text, calls, messages } = await talk({
      thread,
      model: claude,
      search: { by: 'anthropic' },
      stream,
      script: script(),
    })
    expect([text, calls]).toEqual(['It is 42.', ['search_tools', READ]])
    // What was loaded is selected by now, and still waits: the messages refer to it.
    const { requests } = await talk({
      thread,
      model: claude,
      search: { by: 'anthropic' },
      stream,
      messages,
      script: [{ answer: readsIt() }, saysIt],
    })
    expect(requests[0]?.deferredNames).toContain(READ)
  })

  for (const [name, tool] of Object.entries({
    bm25: anthropicTools.toolSearchBm25_20251119(),
    regex: anthropicTools.toolSearchRegex_20251119(),
  }))
    it.each([false, true])(`uses the provider search (${name}) with streaming %s`, async (stream) => {
      const { text, calls } = await talk({
        model: claude,
        search: { by: 'anthropic', tool },
        stream,
        script: [
          {
            expect: ({ toolNames }) => {
              expect(toolNames).toContain(`tool_search_tool_${name}`)
              expect(toolNames).not.toContain('search_tools')
            },
            answer: {
              searches: [{ arguments: name === 'bm25' ? { query: QUERY } : { pattern: 'read' }, found: [READ] }],
              ...readsIt(),
            },
          },
          saysIt,
        ],
      })
      expect([text, calls]).toEqual(['It is 42.', [READ]])
    })
})

describe('the AI SDK with OpenAI', () => {
  const { toolSearch } = openaiTools
  it.each([false, true])('returns definitions from the Loadout search with streaming %s', async (stream) => {
    const { text, calls } = await talk({
      model: gpt,
      search: { by: 'openai', toolSearch },
      stream,
      script: [
        {
          expect: ({ tools }) => {
            expect(tools.map(({ name, type }) => name ?? type)).toEqual(['read_result', 'tool_search', SUM])
            expect(tools[1]).toMatchObject({ execution: 'client', parameters: { type: 'object' } })
          },
          answer: { searches: [{ arguments: { query: QUERY } }] },
        },
        {
          expect: (request) =>
            expect(last(request)).toMatchObject({
              type: 'tool_search_output',
              execution: 'client',
              tools: [
                {
                  type: 'namespace',
                  name: 'filesystem',
                  tools: expect.arrayContaining([expect.objectContaining({ name: READ, defer_loading: true })]),
                },
              ],
            }),
          answer: readsIt(),
        },
        saysIt,
      ],
    })
    expect([text, calls]).toEqual(['It is 42.', ['search_tools', READ]])
  })

  it.each([false, true])('searches provider namespaces with streaming %s', async (stream) => {
    const { text, calls, requests } = await talk({
      model: gpt,
      search: { by: 'openai', toolSearch, execution: 'server' },
      stream,
      script: [
        {
          expect: ({ tools }) => {
            const spaces = tools.filter(({ type }) => type === 'namespace')
            expect(spaces.length).toBeGreaterThan(2)
            for (const { tools: inside } of spaces) expect((inside as unknown[]).length).toBeLessThan(10)
          },
          answer: { searches: [{ arguments: { paths: ['filesystem'] }, found: [READ] }], ...readsIt() },
        },
        saysIt,
      ],
    })
    expect([text, calls]).toEqual(['It is 42.', [READ]])
    const [call] = (requests[1] as ModelRequest).history.filter(({ type }) => type === 'function_call')
    expect(call?.namespace).toMatch(/^filesystem/)
  })
})

describe('the execute function of an AI SDK tool', () => {
  it('reports a call that was denied after the tool was listed, and the generation continues', async () => {
    const MOVE = 'mcp_filesystem_move_file'
    const thread = fixture().thread()
    const { userId } = thread
    await thread.load(['filesystem.move_file'])
    const { text, requests } = await talk({
      thread,
      model: claude,
      script: [
        {
          answer: async () => {
            await fixture().host.rules.set({ userId }, [{ pattern: 'filesystem.move_file', decision: 'deny' }])
            return { calls: [{ name: MOVE, arguments: { source: fixture().note, destination: 'x' } }] }
          },
        },
        { answer: 'It may not.' },
      ],
    })
    expect(text).toBe('It may not.')
    expect(JSON.stringify(last(requests[1] as ModelRequest))).toContain('denied')
    expect((await thread.loaded()).map(({ ref }) => ref)).toContain('filesystem.move_file')
    await expect(thread.load(['filesystem.move_file'])).rejects.toMatchObject({ code: 'not-carried' })
    await fixture().host.rules.set({ userId }, [])
  })

  it('passes a server image to the model as an image', async () => {
    const IMAGE = 'mcp_everything_get-tiny-image'
    const thread = fixture().thread()
    await thread.load(['everything.get-tiny-image'])
    for (const model of [claude, gpt]) {
      const { requests } = await talk({
        thread,
        model,
        script: [{ answer: { calls: [{ name: IMAGE, arguments: {} }] } }, { answer: 'A tiny one.' }],
      })
      const result = JSON.stringify(last(requests[1] as ModelRequest))
      expect(result).toMatch(/"type":"image","source":\{"type":"base64","media_type":"image\/png"|"type":"input_image"/)
    }
  })
})
