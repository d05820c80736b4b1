import fc from 'fast-check'
import { expect, it } from 'vitest'
import { slugFrom } from '../schema/ids.ts'
import { nameApart, toolModelName } from './model-name.ts'

it('a model name is valid for every provider and unique per tool', () => {
  const pairs: Array<[string, string]> = [
    ['filesystem', 'read_file'],
    ['a_b', 'c'],
    ['a', 'b_c'],
    ['kit', 'tool.with.dots'],
    ['kit', 'tool-with-dots'],
    ['kit', 'tool with dots'],
    ['kit', '漢字'],
    ['kit', '汉字'],
    ['k'.repeat(48), 't'.repeat(100)],
    ['k'.repeat(48), 't'.repeat(101)],
  ]
  const tools = pairs.map(([toolkit, tool]) => ({ ref: `${toolkit}.${tool}`, modelName: toolModelName(toolkit, tool) }))
  const renamed = nameApart(tools)
  const names = tools.map((tool) => renamed.get(tool) ?? tool.modelName)
  expect(names[0]).toBe('mcp_filesystem_read_file')
  expect(new Set(names).size).toBe(pairs.length)
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
})

// A model's history and people's grants name tools: these never change, in any version, on any machine.
it.each([
  ['filesystem', 'read_file', 'mcp_filesystem_read_file'],
  ['a_b', 'c', 'mcp_a_b_c'],
  ['kit', 'tool.with.dots', 'mcp_kit_tool_with_dots_62b43b67'],
  ['kit', '漢字', 'mcp_kit____018f6432'],
  ['kit', 't'.repeat(90), `mcp_kit_${'t'.repeat(47)}_45c970d9`],
])('gives %s and %s the stable name %s', (toolkit, tool, name) => expect(toolModelName(toolkit, tool)).toBe(name))

const odd = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 256 }),
  fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', '.', ' ', '/'), minLength: 1, maxLength: 100 }),
  fc.constantFrom('read', 'Read', 'read_file', '../../etc', '__proto__', 'constructor', '\u202eevil', '漢字', '🛠️'),
)
const toolkitId = odd.map((name) => slugFrom(name) || 'kit')
const pairs = fc.uniqueArray(fc.record({ toolkit: toolkitId, tool: odd }), {
  selector: ({ toolkit, tool }) => `${toolkit}.${tool}`,
  minLength: 10_000,
  maxLength: 10_000,
  size: 'max',
})

it('model names of 10,000 odd tools are valid, unique, stable and resolvable', () => {
  fc.assert(
    fc.property(pairs, (odds) => {
      const tools = odds.map(({ toolkit, tool }) => ({
        ref: `${toolkit}.${tool}`,
        modelName: toolModelName(toolkit, tool),
      }))
      const nameOf = (all: typeof tools) => {
        const renamed = nameApart(all)
        return new Map(all.map((tool) => [renamed.get(tool) ?? tool.modelName, tool.ref]))
      }
      const table = nameOf(tools)
      expect(table.size).toBe(odds.length)
      for (const name of table.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(new Set(table.values()).size).toBe(odds.length)
      const again = odds.map(({ toolkit, tool }) => ({
        ref: `${toolkit}.${tool}`,
        modelName: toolModelName(toolkit, tool),
      }))
      expect(nameOf(again)).toEqual(table)
    }),
    { numRuns: 3 },
  )
})

it('colliding model names keep the first name and give the others stable new names', () => {
  const tools = Array.from({ length: 50 }, (_, index) => ({ ref: `kit.${index}`, modelName: 'mcp_same' }))
  const renamed = nameApart(tools)
  const [first, ...others] = tools
  expect(renamed.has(first as never)).toBe(false)
  expect(new Set([...renamed.values(), 'mcp_same']).size).toBe(50)
  expect([...nameApart(tools)].map(([, name]) => name)).toEqual([...renamed].map(([, name]) => name))
  expect(others.every((tool) => /^mcp_same_[0-9a-f]{16}$/.test(renamed.get(tool) ?? ''))).toBe(true)
})
