/** Programs that providers run, in the forms: who may call what, what is read of them, and how they are answered. */
import { describe, expect, it } from 'vitest'
import { answerAnthropic, callAll, readAnthropic, toAnthropic } from '../../src/ai/anthropic/anthropic.ts'
import type { ModelCall, ModelSelection } from '../../src/ai/model-call.ts'
import { answerOpenAI, readOpenAI, toOpenAI } from '../../src/ai/openai/openai.ts'
import type { CallOutcome } from '../../src/calls/call.ts'
import { toolModelName } from '../../src/loadout/model-name.ts'
import type { LoadoutEntry } from '../../src/schema/toolkit/loadout-entry.ts'
import { SEARCH_ENTRY } from '../../src/search/search-tools.ts'

const VERSION = 'code_execution_20260120'
const entry = (tool: string, more: Partial<LoadoutEntry> = {}): LoadoutEntry => ({
  ref: `a.${tool}`,
  modelName: toolModelName('a', tool),
  tier: 'app',
  toolkit: 'a',
  tool,
  manifest: { name: tool, inputSchema: { type: 'object' }, outputSchema: { type: 'object', title: tool } },
  deferred: true,
  allowedCallers: ['direct', 'code'],
  tokens: 10,
  included: true,
  reasons: [],
  ...more,
})
const both = entry('both')
const byHand = entry('by_hand', { allowedCallers: ['direct'] })
const inCode = entry('in_code', { allowedCallers: ['code'] })
const strict = entry('strict', { providerOptions: { anthropic: { strict: true } } })
const selectionOf = (shown: readonly LoadoutEntry[], deferred: readonly LoadoutEntry[] = []): ModelSelection => ({
  tools: [...shown, ...(deferred.length > 0 ? [SEARCH_ENTRY] : [])].map((one) => ({
    entry: one,
    by: 'search',
    reasons: [],
    tokens: 10,
  })),
  deferred: [...deferred],
})
const image: CallOutcome = {
  status: 'ok',
  content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
}
const data: CallOutcome = {
  status: 'ok',
  content: [{ type: 'text', text: 'Two rows.' }],
  structuredContent: { rows: [1, 2] },
}
const answered = (caller: ModelCall['caller'], outcome: CallOutcome, source = {}) => [
  { call: { id: 'id_1', name: 'mcp_a_both', arguments: {}, source, ...(caller ? { caller } : {}) }, outcome },
]
const program = { type: 'code' as const, toolId: 'srvtoolu_1' }

describe('programs for Anthropic', () => {
  it('declare their allowed callers, never defer code execution and searches, and cannot search', () => {
    const { tools, warnings } = toAnthropic(selectionOf([both, byHand, inCode], [entry('later')]), {
      programs: VERSION,
    })
    expect(tools).toMatchObject([
      { type: VERSION, name: 'code_execution' },
      { name: 'mcp_a_both', allowed_callers: ['direct', VERSION] },
      { name: 'mcp_a_by_hand' },
      { name: 'mcp_a_in_code', allowed_callers: [VERSION] },
      { name: 'search_tools' },
      { name: 'mcp_a_later', defer_loading: true, allowed_callers: ['direct', VERSION] },
    ])
    for (const index of [0, 2, 4]) expect(tools[index]).not.toHaveProperty('allowed_callers')
    expect(tools[0]).not.toHaveProperty('defer_loading')
    expect(warnings).toEqual([])
    expect(JSON.stringify(toAnthropic(selectionOf([both])).tools)).not.toContain('allowed_callers')
  })

  it('exclude strict tools and warn about them and about an incompatible tool_choice', () => {
    const toolChoice = { type: 'tool', disable_parallel_tool_use: true }
    const { tools, warnings } = toAnthropic(selectionOf([strict]), { programs: VERSION, toolChoice })
    expect(tools[1]).toEqual({ name: 'mcp_a_strict', strict: true, input_schema: { type: 'object' } })
    expect(warnings.map((one) => /strict tools|names a tool|disable_parallel/.exec(one)?.[0])).toEqual([
      'strict tools',
      'names a tool',
      'disable_parallel',
    ])
  })

  it('are read with any ending and with the container', () => {
    const begins = (id: string) => ({ type: 'server_tool_use', id, name: 'code_execution', input: { code: 'x' } })
    const ends = (id: string, content: object) => ({ type: 'code_execution_tool_result', tool_use_id: id, content })
    const ok = { type: 'code_execution_result', stdout: '3', stderr: '', return_code: 0, content: [] }
    const content = [
      ends('0', ok),
      begins('1'),
      begins('2'),
      ends('2', { ...ok, return_code: 1, stderr: 'KeyError' }),
      begins('3'),
      ends('3', { type: 'code_execution_tool_result_error', error_code: 'execution_time_exceeded' }),
      ends('4', { ...ok, type: 'encrypted_code_execution_result', stdout: undefined }),
      { type: 'server_tool_use', id: '5', name: 'bash_code_execution', input: {} },
    ]
    const response = { content, container: { id: 'container_1', expires_at: '2030-01-01T00:00:00Z', skills: null } }
    const { programs, container } = readAnthropic(selectionOf([]), response)
    const provider = 'anthropic'
    expect(programs).toEqual([
      { provider, id: '0', status: 'completed', output: '3' },
      { provider, id: '1', status: 'running', code: 'x' },
      { provider, id: '2', status: 'failed', code: 'x', output: '3', error: 'KeyError' },
      { provider, id: '3', status: 'failed', code: 'x', error: 'execution_time_exceeded' },
      { provider, id: '4', status: 'completed' },
    ])
    expect(container).toEqual({ id: 'container_1', expiresAt: new Date('2030-01-01T00:00:00Z') })
    expect(readAnthropic(selectionOf([]), { content, container: null })).not.toHaveProperty('container')
  })

  it('get text only: data as JSON, and a note for content that cannot be shown', () => {
    const text = (caller: ModelCall['caller'], outcome: CallOutcome) =>
      answerAnthropic(selectionOf([both]), answered(caller, outcome)).content[0]?.content
    expect(text(program, data)).toEqual([{ type: 'text', text: '{"rows":[1,2]}' }])
    expect(text(program, image)).toMatchObject([{ type: 'text', text: expect.stringContaining('image/png') }])
    expect(text(undefined, data)).toEqual([{ type: 'text', text: 'Two rows.' }])
    expect(text({ type: 'direct' }, image)).toMatchObject([{ type: 'image' }])
  })

  it('get search results without references', () => {
    const found = { ...data, structuredContent: { tools: [{ name: 'mcp_a_later' }] } }
    const call = { id: 'id_1', name: 'search_tools', arguments: {}, caller: program, source: {} }
    const { content } = answerAnthropic(selectionOf([], [entry('later')]), [{ call, outcome: found }])
    expect(JSON.stringify(content)).not.toContain('tool_reference')
  })
})

describe('programs for OpenAI', () => {
  it('declare allowed callers and output schemas, also for tools found by a search', () => {
    const selection = selectionOf([both, byHand, inCode], [entry('later')])
    const { tools } = toOpenAI(selection, { programs: true })
    expect(tools).toMatchObject([
      { name: 'mcp_a_both', allowed_callers: ['direct', 'programmatic'], output_schema: { title: 'both' } },
      { name: 'mcp_a_by_hand' },
      { name: 'mcp_a_in_code', allowed_callers: ['programmatic'] },
      { type: 'tool_search' },
      { type: 'programmatic_tool_calling' },
    ])
    expect(tools[1]).not.toHaveProperty('allowed_callers')
    expect(tools[1]).not.toHaveProperty('output_schema')
    const served = toOpenAI(selection, { programs: true, search: 'server' }).tools
    expect(served[4]).toMatchObject({ type: 'namespace', tools: [{ allowed_callers: ['direct', 'programmatic'] }] })
    const call = { id: 'c', name: 'search_tools', arguments: {}, source: { type: 'tool_search_call' } }
    const outcome = { ...data, structuredContent: { tools: [{ name: 'mcp_a_later' }] } }
    expect(answerOpenAI(selection, [{ call, outcome }], { programs: true })).toMatchObject([
      { tools: [{ tools: [{ name: 'mcp_a_later', allowed_callers: ['direct', 'programmatic'] }] }] },
    ])
    expect(JSON.stringify(toOpenAI(selection).tools)).not.toMatch(/allowed_callers|output_schema|programmatic/)
  })

  it('use one of the 128 entries', () => {
    const many = Array.from({ length: 130 }, (_, index) => entry(`t${index}`))
    expect(toOpenAI(selectionOf(many), { programs: true }).tools).toHaveLength(128)
    const waiting = Array.from({ length: 1500 }, (_, index) => entry(`t${index}`, { toolkit: `k${index % 200}` }))
    expect(toOpenAI(selectionOf([both], waiting), { programs: true, search: 'server' }).tools).toHaveLength(128)
  })

  it('are read with any ending', () => {
    const item = { id: 'prog_1', type: 'program', call_id: 'call_1', code: 'x', fingerprint: 'f' }
    const over = (call_id: string, status: string) => ({
      type: 'program_output',
      id: 'o',
      call_id,
      result: '3',
      status,
    })
    const provider = 'openai'
    expect(
      readOpenAI(selectionOf([]), [item, over('call_0', 'completed'), over('call_2', 'incomplete')]).programs,
    ).toEqual([
      { provider, id: 'call_1', status: 'running', code: 'x' },
      { provider, id: 'call_0', status: 'completed', output: '3' },
      { provider, id: 'call_2', status: 'failed', output: '3', error: 'It is incomplete. 3' },
    ])
  })

  it('get answers with their caller and with data', () => {
    const caller = { type: 'program', caller_id: 'call_1' }
    const answer = (who: ModelCall['caller'], source: object) =>
      answerOpenAI(selectionOf([both]), answered(who, data, source))[0]
    expect(answer({ type: 'code', toolId: 'call_1' }, { caller })).toMatchObject({ output: '{"rows":[1,2]}', caller })
    expect(answer(undefined, {})).toEqual({ type: 'function_call_output', call_id: 'id_1', output: 'Two rows.' })
  })
})

describe('callAll', () => {
  it('passes the caller and its ID and reports pending approvals', async () => {
    const seen: unknown[] = []
    const reported: string[] = []
    const calls = readAnthropic(selectionOf([]), [
      { type: 'tool_use', id: 'toolu_1', name: 'n', input: {}, caller: { type: VERSION, tool_id: 'srvtoolu_1' } },
      { type: 'tool_use', id: 'toolu_2', name: 'n', input: {}, caller: { type: 'direct' } },
    ]).calls
    await callAll(
      calls,
      async ({ onPending, ...request }) => {
        seen.push(request)
        onPending?.({ id: 'appr_1' } as never)
        return data
      },
      { onPending: (call, { id }) => reported.push(`${call.id} ${id}`) },
    )
    expect(seen).toEqual([
      { id: 'toolu_1', name: 'n', arguments: {}, caller: program },
      { id: 'toolu_2', name: 'n', arguments: {}, caller: { type: 'direct' } },
    ])
    expect(reported).toEqual(['toolu_1 appr_1', 'toolu_2 appr_1'])
  })
})
