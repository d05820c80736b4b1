import { openai } from '@ai-sdk/openai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toolModelName } from '../loadout/model-name.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { SEARCH_ENTRY } from '../search/search-tools.ts'
import { type AnthropicTool, toAnthropic } from './anthropic/anthropic.ts'
import { LIMITS, limitWarnings } from './limits.ts'
import type { ModelSelection } from './model-call.ts'
import { toOpenAI, toOpenAIChat } from './openai/openai.ts'
import { toAI } from './to-ai.ts'

const entry = (name: string, toolkit = 'kit'): LoadoutEntry => ({
  ref: `${toolkit}.${name}`,
  modelName: toolModelName(toolkit, name),
  tier: 'app',
  toolkit,
  tool: name,
  manifest: { name, inputSchema: { type: 'object' } },
  deferred: true,
  allowedCallers: ['direct'],
  tokens: 10,
  included: true,
  reasons: [],
})
const many = (prefix: string, count: number, toolkit?: string) =>
  Array.from({ length: count }, (_, index) => entry(`${prefix}${index}`, toolkit))
const selectionOf = (immediate: readonly LoadoutEntry[], deferred: readonly LoadoutEntry[]): ModelSelection => ({
  tools: [...immediate, ...(deferred.length > 0 ? [SEARCH_ENTRY] : [])].map((one) => ({
    entry: one,
    by: 'search',
    reasons: [],
    tokens: 10,
  })),
  deferred: [...deferred],
})

describe('a limit warning', () => {
  const at = (entries: number, provider: keyof typeof LIMITS = 'openai-chat') =>
    limitWarnings({ provider, entries, names: [] })
  it('starts at 80 % with the number and the fix', () => {
    expect(at(102)).toEqual([])
    expect(at(103)).toEqual([
      expect.stringContaining('OpenAI takes 128 tools in a request, and this one has 103 (80 %).'),
    ])
    expect(at(103)[0]).toContain('Lower "limit" in resolve()')
    expect(at(409, 'google')).toEqual([])
    expect(at(410, 'google')[0]).toContain('512')
    expect(at(7_999, 'anthropic')).toEqual([])
    expect(at(8_000, 'anthropic')[0]).toContain('10000')
  })

  it('covers long names', () => {
    const [near] = limitWarnings({ provider: 'anthropic', entries: 1, names: ['x'.repeat(51), 'y'.repeat(52)] })
    expect(near).toContain(`1 tool is near that (${'y'.repeat(52)})`)
  })
})

describe('a format over a limit', () => {
  it('keeps selected tools and drops the last deferred tools with a warning for Anthropic', () => {
    const { tools, warnings } = toAnthropic(selectionOf(many('s', 5), many('d', 10_100)))
    expect(tools).toHaveLength(10_000)
    expect(tools.slice(0, 6).map(({ name }) => name)).toEqual([
      ...many('s', 5).map((one) => one.modelName),
      'search_tools',
    ])
    expect(tools.at(-1)?.name).toBe('mcp_kit_d9993')
    expect(warnings).toEqual([
      expect.stringContaining('106 tools are left out, those of the lowest rank (mcp_kit_d9994, '),
    ])
  })

  it('keeps tools that messages reference for Anthropic', () => {
    const messages = [
      {
        role: 'user',
        content: [{ type: 'tool_result', content: [{ type: 'tool_reference', tool_name: 'mcp_kit_d10099' }] }],
      },
    ]
    const { tools } = toAnthropic(selectionOf([], many('d', 10_100)), { messages, search: 'bm25' })
    expect(tools).toHaveLength(10_000)
    expect(tools).toContainEqual(expect.objectContaining({ name: 'mcp_kit_d10099', defer_loading: true }))
  })

  it('moves excess tools to the search for OpenAI with the Loadout search', () => {
    const { tools, warnings } = toOpenAI(selectionOf(many('s', 130), many('d', 500)))
    expect(tools).toHaveLength(128)
    expect(tools.at(-1)).toMatchObject({ type: 'tool_search', execution: 'client' })
    expect(warnings).toEqual([
      expect.stringContaining('3 tools are selected but found by a search only (mcp_kit_s127, '),
    ])
  })

  it('defers excess tools to namespaces and drops the last ones for OpenAI with its own search', () => {
    const few = toOpenAI(selectionOf(many('s', 2), many('d', 500)), { search: 'server' })
    expect(few.tools).toHaveLength(2 + Math.ceil(500 / 9) + 1)
    expect(few.warnings).toEqual([])
    const { tools, warnings } = toOpenAI(selectionOf(many('s', 2), many('d', 2_000)), { search: 'server' })
    expect(tools).toHaveLength(128)
    expect(warnings).toEqual([
      expect.stringContaining(`${2_000 - 125 * 9} tools are left out, those of the lowest rank`),
    ])
  })

  it('drops excess tools for Chat, which has no search', () => {
    const { tools, warnings } = toOpenAIChat(selectionOf(many('s', 200), many('d', 1)))
    expect(tools).toHaveLength(128)
    expect(tools.at(-1)?.function.name).toBe('search_tools')
    expect(warnings).toEqual([expect.stringContaining('73 tools are left out, those of the lowest rank')])
    const google = toOpenAIChat(selectionOf(many('s', 600), []), { provider: 'google' })
    expect(google.tools).toHaveLength(512)
  })

  it('applies the limit of the named provider for the AI SDK', () => {
    const call = async () => ({ status: 'ok' as const, content: [] })
    const selection = { ...selectionOf(many('s', 200), many('d', 10)), call }
    expect(Object.keys(toAI(selection).tools)).toHaveLength(211)
    const { tools, activeTools, warnings } = toAI(selection, { provider: 'openai-chat' })
    expect(activeTools).toHaveLength(128)
    expect(Object.keys(tools)).toHaveLength(211)
    const bySdk = toAI(selection, { provider: 'openai-chat', search: { by: 'ai-sdk' } })
    expect(Object.values(bySdk.tools).filter((tool) => !tool.deferLoading)).toHaveLength(128)
    expect(warnings).toEqual([expect.stringContaining('73 tools are selected but found by a search only')])
  })

  it('uses as many namespaces as allowed for the AI SDK with the OpenAI search', () => {
    const call = async () => ({ status: 'ok' as const, content: [] })
    const { toolSearch } = openai.tools
    const selection = { ...selectionOf(many('s', 2), many('d', 2_000)), call }
    const { tools, warnings } = toAI(selection, { search: { by: 'openai', toolSearch, execution: 'server' } })
    expect(Object.keys(tools)).toHaveLength(2 + 125 * 9 + 1)
    expect(warnings).toEqual([expect.stringContaining(`${2_000 - 125 * 9} tools are left out`)])
  })

  it('drops a tool with a too long name and reports it', () => {
    const long = { ...entry('x'), modelName: 'y'.repeat(65) }
    for (const form of [toAnthropic, toOpenAI, toOpenAIChat]) {
      const { tools, warnings } = form(selectionOf([long, entry('a')], []))
      expect(JSON.stringify(tools)).not.toContain('yyy')
      expect(warnings[0]).toContain('names of 64 characters: 1 tool is left out')
    }
  })
})

describe('any selection', () => {
  const sizes = fc.record({
    immediate: fc.nat(300),
    deferred: fc.nat(3_000),
    toolkits: fc.integer({ min: 1, max: 40 }),
  })
  const spread = (prefix: string, count: number, toolkits: number) =>
    many(prefix, count).map((one, index) => entry(one.tool, `kit${index % toolkits}`))

  it('exceeds no limit, has no duplicate name, and loses no tool without a warning', () => {
    fc.assert(
      fc.property(sizes, ({ immediate, deferred, toolkits }) => {
        const selection = selectionOf(spread('s', immediate, toolkits), spread('d', deferred, toolkits))
        const forms = [
          { ...toAnthropic(selection), most: LIMITS.anthropic.tools, all: true },
          { ...toOpenAI(selection), most: 128, all: false },
          { ...toOpenAI(selection, { search: 'server' }), most: 128, all: true },
          { ...toOpenAIChat(selection), most: 128, all: false },
        ]
        for (const { tools, warnings, most, all } of forms) {
          expect(tools.length).toBeLessThanOrEqual(most)
          const names = tools.flatMap((tool) => namesOf(tool))
          expect(new Set(names).size).toBe(names.length)
          for (const tool of tools) if ('tools' in tool) expect(tool.tools.length).toBeLessThan(10)
          const missing = immediate + (all ? deferred : 0) - names.length
          if (missing > 0) expect(warnings.join()).toMatch(/left out|found by a search only/)
        }
        const { tools } = forms[0] as { tools: AnthropicTool[] }
        if (tools.length > 0) expect(tools.some((tool) => tool.defer_loading !== true)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

/** Counts tools without the search tool. */
function namesOf(tool: object): string[] {
  if ('tools' in tool) return (tool.tools as object[]).flatMap(namesOf)
  const { name } = ('function' in tool ? tool.function : tool) as { name?: string }
  return name?.startsWith('mcp_') ? [name] : []
}
