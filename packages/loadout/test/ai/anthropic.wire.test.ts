/** Whole conversations with the official SDK of Anthropic, over HTTP, with tools of real servers. */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { PROMPT, QUERY, READ, SUM, useModelHost } from '../../../../test/model-host.ts'
import {
  type AnthropicOptions,
  answerAnthropic,
  callAll,
  readAnthropic,
  toAnthropic,
  withoutLost,
} from '../../src/ai/anthropic/anthropic.ts'
import type { ModelRequest, ModelScript } from '../../src/testing/model-server/script.ts'
import type { Thread } from '../../src/thread.ts'

const { fixture, serve } = useModelHost()

interface Talk {
  thread: Thread
  script: ModelScript
  search?: AnthropicOptions['search']
  stream?: boolean
  messages?: Anthropic.MessageParam[]
}

/** The loop of an app: as short as it can be, with nothing of ours but the form. */
async function talk({ thread, script, search = 'client', stream = false, messages = [] }: Talk) {
  const server = await serve(script)
  const client = new Anthropic({ apiKey: 'key', baseURL: server.baseUrl.anthropic, maxRetries: 0 })
  messages.push({ role: 'user', content: PROMPT })
  let selection = await thread.select({ prompt: PROMPT, limit: 1 })
  for (let step = 0; step < 10; step++) {
    const { tools } = toAnthropic(selection, { search, messages })
    const request = { model: 'claude-opus-5-5', max_tokens: 1000, tools, messages: withoutLost(messages, tools) }
    const message = stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    messages.push({ role: 'assistant', content: message.content })
    const { calls, loaded } = readAnthropic(selection, message.content)
    if (loaded.length > 0) await thread.load(loaded)
    if (calls.length === 0) break
    messages.push(answerAnthropic(selection, await callAll(calls, selection.call)))
    selection = selection.next()
  }
  server.done()
  return { messages, requests: server.requests, selection }
}

const waits = ({ deferredNames }: ModelRequest) => deferredNames
const lastResult = ({ history }: ModelRequest) => history.at(-1)?.content

describe('the Loadout search for Anthropic', () => {
  const script = (): ModelScript => [
    {
      expect: (request) => {
        expect(request.toolNames).toEqual(['read_result', 'search_tools', SUM])
        expect(waits(request)).toEqual([])
      },
      answer: { text: 'I look for a tool.', calls: [{ name: 'search_tools', arguments: { query: QUERY, limit: 2 } }] },
    },
    {
      expect: (request) => {
        expect(lastResult(request)).toEqual([
          expect.objectContaining({
            type: 'tool_result',
            content: expect.arrayContaining([{ type: 'tool_reference', tool_name: READ }]),
          }),
        ])
        expect(waits(request)).toHaveLength(2)
        expect(waits(request)).toContain(READ)
        expect(request.toolNames.slice(0, 3)).toEqual(['read_result', 'search_tools', SUM])
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
        const text = JSON.stringify(lastResult(request))
        expect(text).toContain('The answer is 42.')
        expect(text).toContain('The sum of 2 and 3 is 5.')
        expect(waits(request)).toContain(READ)
      },
      answer: 'It is 42.',
    },
  ]

  it.each([false, true])('runs search, reference, call, result and answer with streaming %s', async (stream) => {
    const thread = fixture().thread()
    const { messages } = await talk({ thread, script: script(), stream })
    expect(messages.at(-1)?.content).toMatchObject([{ type: 'text', text: 'It is 42.' }])
    expect((await thread.loaded()).map(({ ref }) => ref)).toContain('filesystem.read_text_file')
  })

  it('continues in the next prompt and keeps the definition of referenced tools', async () => {
    const thread = fixture().thread()
    const { messages } = await talk({ thread, script: script() })
    await talk({
      thread,
      messages,
      script: [
        {
          expect: (request) => expect(waits(request)).toContain(READ),
          answer: { calls: [{ name: READ, arguments: { path: fixture().note } }] },
        },
        { answer: 'Still 42.' },
      ],
    })
  })

  it('continues after a referenced tool is turned off and removes the reference', async () => {
    const thread = fixture().thread()
    const { messages } = await talk({ thread, script: script() })
    await thread.deactivate('filesystem')
    const { requests } = await talk({
      thread,
      messages,
      script: [
        { answer: { calls: [{ name: READ, arguments: { path: fixture().note }, madeUp: true }] } },
        { answer: 'Gone.' },
      ],
    })
    expect(waits(requests[0] as ModelRequest)).toEqual([])
    const historyText = JSON.stringify(requests[0]?.history)
    expect(historyText).toContain('The tools found earlier are no longer available.')
    expect(JSON.stringify(requests[1]?.history.at(-1))).toContain('is_error')
  })

  it('reports no match, an unknown tool and a denied tool', async () => {
    const { requests } = await talk({
      thread: fixture().thread(),
      script: [
        {
          answer: {
            calls: [
              { name: 'search_tools', arguments: {} },
              { name: 'nonsense', arguments: {}, madeUp: true },
              { name: 'mcp_filesystem_write_file', arguments: { path: fixture().note, content: 'x' }, madeUp: true },
            ],
          },
        },
        { answer: 'I see.' },
      ],
    })
    const results = lastResult(requests[1] as ModelRequest) as Array<{ is_error?: true; content: unknown }>
    expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true])
    expect(JSON.stringify(results)).toContain('needs \\"query\\" or \\"names\\"')
    expect(JSON.stringify(results[1])).toContain("There is no tool 'nonsense'")
  })
})

describe("the provider's search", () => {
  for (const search of ['bm25', 'regex'] as const)
    it.each([false, true])(`loads tools by ${search} and reports them with streaming %s`, async (stream) => {
      const thread = fixture().thread()
      const all = (await thread.loadout()).tools.length
      const { messages } = await talk({
        thread,
        search,
        stream,
        script: [
          {
            expect: (request) => {
              expect(request.toolNames.slice(0, 3)).toEqual(['read_result', `tool_search_tool_${search}`, SUM])
              expect(request.toolNames).not.toContain('search_tools')
              expect(waits(request)).toHaveLength(all - 1)
            },
            answer: {
              searches: [{ arguments: search === 'bm25' ? { query: QUERY } : { pattern: 'read.*' }, found: [READ] }],
              text: 'Found one.',
              calls: [{ name: READ, arguments: { path: fixture().note } }],
            },
          },
          {
            expect: (request) => {
              expect(JSON.stringify(lastResult(request))).toContain('The answer is 42.')
              expect(waits(request)).toContain(READ)
            },
            answer: 'It is 42.',
          },
        ],
      })
      expect(messages[1]?.content).toMatchObject([
        { type: 'server_tool_use', name: `tool_search_tool_${search}` },
        { type: 'tool_search_tool_result' },
        { type: 'text' },
        { type: 'tool_use', name: READ },
      ])
      expect((await thread.loaded()).map(({ ref }) => ref)).toEqual(['filesystem.read_text_file'])
    })

  it('continues the thread after a failed search', async () => {
    const { messages } = await talk({
      thread: fixture().thread(),
      search: 'regex',
      script: [
        { answer: { searches: [{ arguments: { pattern: '(' }, error: 'invalid_tool_input' }], text: 'Sorry.' } },
      ],
    })
    const { searchErrors } = readAnthropic({ tools: [], deferred: [] }, messages[1]?.content as unknown[])
    expect(searchErrors).toEqual([{ code: 'invalid_tool_input' }])
  })
})
