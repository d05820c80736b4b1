import { expect, it } from 'vitest'
import { modelName } from './model-name.ts'

it('is what every provider takes, and never the same for two tools', () => {
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
  const names = pairs.map(([toolkit, tool]) => modelName(toolkit, tool))
  expect(names[0]).toBe('mcp_filesystem_read_file')
  expect(new Set(names).size).toBe(pairs.length)
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(names).toEqual(pairs.map(([toolkit, tool]) => modelName(toolkit, tool)))
})
