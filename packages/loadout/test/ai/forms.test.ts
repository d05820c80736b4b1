/** The forms as functions: what no conversation shows, and laws that hold for any selection. */
import { describe, expect, it } from 'vitest'
import { answerAnthropic, callAll, readAnthropic, toAnthropic, withoutLost } from '../../src/ai/anthropic/anthropic.ts'
import type { ModelCall, ModelSelection } from '../../src/ai/model-call.ts'
import { namespacesOf } from '../../src/ai/openai/namespaces.ts'
import { answerOpenAI, readOpenAI, toOpenAI, toOpenAIChat } from '../../src/ai/openai/openai.ts'
import { toolModelName } from '../../src/loadout/model-name.ts'
import type { LoadoutEntry } from '../../src/schema/toolkit/loadout-entry.ts'
import { SEARCH_ENTRY } from '../../src/search/search-tools.ts'

const entry = (toolkit: string, tool: string): LoadoutEntry => ({
  ref: `${toolkit}.${tool}`,
  modelName: toolModelName(toolkit, tool),
  tier: 'app',
  toolkit,
  tool,
  manifest: { name: tool, description: `Does ${tool}.`, inputSchema: { type: 'object' } },
  deferred: true,
  allowedCallers: ['direct'],
  tokens: 10,
  included: true,
  reasons: [],
})
const kit = (toolkit: string, count: number) =>
  Array.from({ length: count }, (_, index) => entry(toolkit, `tool_${index}`))
const selectionOf = (shown: readonly LoadoutEntry[], deferred: readonly LoadoutEntry[] = []): ModelSelection => ({
  tools: [...shown, ...(deferred.length > 0 ? [SEARCH_ENTRY] : [])].map((one) => ({
    entry: one,
    by: 'search',
    reasons: [],
    tokens: 10,
  })),
  deferred: [...deferred],
})
const call = (name: string, source = {}): ModelCall => ({ id: 'id_1', name, arguments: {}, source })
const foundOutcome = (...names: string[]) => ({
  status: 'ok' as const,
  content: [{ type: 'text', text: 'found' }],
  structuredContent: { tools: names.map((name) => ({ name })) },
})
const A = 'mcp_a_tool_0'
const refer = (...names: string[]) => names.map((tool_name) => ({ type: 'tool_reference', tool_name }))
const ownResult = (...names: string[]) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content: refer(...names) })
const theirs = (type: string, content: object) => ({ type, tool_use_id: 'srvtoolu_1', content })
const searchResult = (...names: string[]) => ({
  type: 'tool_search_tool_search_result',
  tool_references: refer(...names),
})

describe('the Anthropic format', () => {
  it('sends all deferred tools without messages, and only referenced ones with messages', () => {
    const selection = selectionOf(kit('b', 1), kit('a', 3))
    expect(toAnthropic(selection).tools.map((tool) => [tool.name, 'defer_loading' in tool])).toEqual([
      ['mcp_b_tool_0', false],
      ['search_tools', false],
      [A, true],
      ['mcp_a_tool_1', true],
      ['mcp_a_tool_2', true],
    ])
    const messages = [{ role: 'user', content: [ownResult(A)] }]
    expect(toAnthropic(selection, { messages }).tools.map(({ name }) => name)).toEqual([
      'mcp_b_tool_0',
      'search_tools',
      A,
    ])
    expect(toAnthropic(selection, { messages, search: 'bm25' }).tools).toHaveLength(5)
  })

  it('keeps at least one tool that is not deferred, even if all others are referenced', () => {
    const messages = [{ role: 'user', content: [ownResult(A)] }]
    const { tools } = toAnthropic(selectionOf(kit('a', 1)), { messages })
    expect(tools).toMatchObject([{ name: 'search_tools' }, { name: A, defer_loading: true }])
    expect(toAnthropic(selectionOf([])).tools).toEqual([])
    expect(toAnthropic(selectionOf(kit('a', 1))).tools).toHaveLength(1)
  })

  it('reads the tools that its search loaded in the 2025 and current shapes, and its errors', () => {
    const selection = selectionOf([], kit('a', 3))
    const read = (...content: object[]) => readAnthropic(selection, content)
    for (const type of ['tool_search_tool_result', 'tool_result'])
      expect(read(theirs(type, searchResult(A, 'unknown'))).loaded).toEqual(['a.tool_0'])
    for (const code of [
      'invalid_tool_input',
      'unavailable',
      'too_many_requests',
      'invalid_pattern',
      'pattern_too_long',
    ])
      for (const type of ['tool_search_tool_result', 'tool_result'])
        expect(read(theirs(type, { type: 'tool_search_tool_result_error', error_code: code })).searchErrors).toEqual([
          { code },
        ])
    const failed = { type: 'tool_search_tool_result_error', error_code: 'unavailable', error_message: 'Later.' }
    expect(read(theirs('tool_search_tool_result', failed)).searchErrors).toEqual([
      { code: 'unavailable', message: 'Later.' },
    ])
    expect(read({ type: 'thinking' }, { type: 'tool_use' }, { what: 'ever' })).toEqual({
      calls: [],
      programs: [],
      loaded: [],
      searchErrors: [],
    })
  })

  it('reads the caller: the model or a provider program', () => {
    const use = (caller?: object) => ({ type: 'tool_use', id: 'toolu_1', name: A, input: {}, caller })
    const callers = [undefined, { type: 'direct' }, { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }]
    expect(callers.map((caller) => readAnthropic(selectionOf([]), [use(caller)]).calls[0]?.caller)).toEqual([
      undefined,
      { type: 'direct' },
      { type: 'code', toolId: 'srvtoolu_1' },
    ])
  })

  it('references deferred tools only', () => {
    const selection = selectionOf(kit('b', 1), kit('a', 2))
    const results = (...names: string[]) =>
      answerAnthropic(selection, [{ call: call('search_tools'), outcome: foundOutcome(...names) }]).content[0]?.content
    expect(results(A, 'mcp_b_tool_0', 'gone')).toEqual(refer(A))
    expect(results('mcp_b_tool_0')).toEqual([{ type: 'text', text: 'found' }])
    // A tool that answers like a search is none.
    const [other] = answerAnthropic(selection, [{ call: call('mcp_b_tool_0'), outcome: foundOutcome(A) }]).content
    expect(other?.content).toEqual([{ type: 'text', text: 'found' }])
  })

  it('removes lost references from messages and keeps the rest', () => {
    const opaque = { type: 'thinking', thinking: 'x', signature: 'abc' }
    const message = { role: 'assistant', content: [opaque, theirs('tool_search_tool_result', searchResult(A))] }
    const messages = [
      { role: 'user', content: 'hello' },
      message,
      { role: 'assistant', content: [opaque, theirs('tool_search_tool_result', searchResult(A, 'lost'))] },
      { role: 'user', content: [ownResult('lost'), ownResult(A, 'lost')] },
    ]
    const before = structuredClone(messages)
    const cleaned = withoutLost(messages, [{ name: A }])
    expect(messages).toEqual(before)
    expect([cleaned[0], cleaned[1]]).toEqual([messages[0], message])
    expect(cleaned[1]).toBe(message)
    const [same, fewer] = (cleaned[2]?.content ?? []) as unknown[]
    expect(same).toBe(opaque)
    expect(fewer).toEqual(theirs('tool_search_tool_result', searchResult(A)))
    expect(cleaned[3]?.content).toEqual([
      { ...ownResult(), content: [{ type: 'text', text: 'The tools found earlier are no longer available.' }] },
      ownResult(A),
    ])
  })
})

describe('the OpenAI format', () => {
  it('splits a large toolkit into several namespaces with unique names', () => {
    const spaces = namespacesOf([...kit('a', 20), ...kit('a_2', 1), entry('b', 'x')])
    expect(spaces.map(({ name, entries }) => [name, entries.length])).toEqual([
      ['a', 9],
      ['a_3', 9],
      ['a_4', 2],
      ['a_2', 1],
      ['b', 1],
    ])
    expect(spaces[4]?.description).toBe('Tools of b: x.')
  })

  it('keeps a tool in its namespace within a thread, even if earlier tools disappear', () => {
    const placed = new Map([['mcp_a_tool_19', 'a_3']])
    const where = (count: number) =>
      namespacesOf(kit('a', 20).slice(-count), placed).find(({ entries }) =>
        entries.some(({ tool }) => tool === 'tool_19'),
      )?.name
    expect([where(20), where(1)]).toEqual(['a_3', 'a_3'])
  })

  it('keeps namespaces in the request by loaded and by called tools', () => {
    const selection = selectionOf([], kit('a', 20).slice(15))
    const inside = (...input: object[]) =>
      toOpenAI(selection, { search: 'server', input }).tools.flatMap((tool) =>
        'tools' in tool ? [[tool.name, tool.tools.map(({ name }) => name)]] : [],
      )
    const space = { type: 'namespace', name: 'a_2', tools: [{ type: 'function', name: 'mcp_a_tool_16' }] }
    expect(
      inside(
        { type: 'tool_search_output', tools: [space] },
        { type: 'function_call', call_id: 'id_1', name: 'mcp_a_tool_19', namespace: 'a_3' },
      ),
    ).toEqual([
      ['a_2', ['mcp_a_tool_16']],
      ['a_3', ['mcp_a_tool_19']],
      ['a', ['mcp_a_tool_15', 'mcp_a_tool_17', 'mcp_a_tool_18']],
    ])
  })

  it('answers every call by its kind: a search, a function, a program call with its caller', () => {
    const selection = selectionOf([], kit('a', 2))
    const program = { type: 'program', caller_id: 'prog_1' }
    const { calls } = readOpenAI(selection, [
      { type: 'tool_search_call', execution: 'client', call_id: 'id_1', arguments: { query: 'x' } },
      { type: 'tool_search_call', execution: 'server', call_id: null, arguments: { paths: [] } },
      { type: 'function_call', call_id: 'id_2', name: A, arguments: '{"x":1}', namespace: 'a', caller: program },
      { type: 'reasoning', id: 'rs_1' },
    ])
    expect(calls).toMatchObject([
      { id: 'id_1', name: 'search_tools', arguments: { query: 'x' } },
      { id: 'id_2', name: A, arguments: { x: 1 }, caller: { type: 'code', toolId: 'prog_1' } },
    ])
    const outcomes = [foundOutcome(A), foundOutcome()]
    const answers = answerOpenAI(
      selection,
      calls.map((one, index) => ({ call: one, outcome: outcomes[index] as (typeof outcomes)[0] })),
    )
    expect(answers).toMatchObject([
      {
        type: 'tool_search_output',
        call_id: 'id_1',
        tools: [{ name: 'a', tools: [{ name: A, defer_loading: true }] }],
      },
      { type: 'function_call_output', call_id: 'id_2', output: '{"tools":[]}', caller: program },
    ])
  })

  it('has no search without deferred tools', () => {
    for (const search of ['client', 'server'] as const)
      expect(toOpenAI(selectionOf(kit('a', 2)), { search }).tools).toHaveLength(2)
    expect(toOpenAIChat(selectionOf(kit('a', 2))).tools.map(({ function: { name } }) => name)).toEqual([
      A,
      'mcp_a_tool_1',
    ])
  })
})

describe('callAll for every format', () => {
  it('reports arguments that are not an object and calls nothing', async () => {
    const made: string[] = []
    const callTool = async ({ name }: { name: string }) => {
      made.push(name)
      return foundOutcome()
    }
    for (const written of ['[1]', '"x"', '{"__proto__":{}}', 'x'.repeat(100)]) {
      const { calls } = readOpenAI(selectionOf([]), [
        { type: 'function_call', call_id: 'id_1', name: A, arguments: written },
      ])
      const [answer] = await callAll(calls, callTool)
      expect(answer?.outcome).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
    }
    expect(made).toEqual([])
    const { calls } = readOpenAI(selectionOf([]), [{ type: 'function_call', call_id: 'i', name: A, arguments: '' }])
    await callAll(calls, callTool)
    expect(made).toEqual([A])
  })
})
