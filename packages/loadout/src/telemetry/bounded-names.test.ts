import { describe, expect, it } from 'vitest'
import { boundNames } from './bounded-names.ts'

describe('metric tag names', () => {
  it('keep their value up to a limit, and further names become other', () => {
    const names = boundNames({ toolkits: 3, tools: 4, workflowVersions: 2 })
    const tools = new Set<string>()
    for (let i = 0; i < 1000; i++)
      for (let j = 0; j < 10; j++) tools.add(JSON.stringify(names.tool(`kit-${i}`, `tool-${j}`)))
    // Four tools, the other ones of a toolkit that has its name, and all others.
    expect([...tools].map((text) => JSON.parse(text))).toEqual([
      ...[0, 1, 2, 3].map((j) => ({ toolkit: 'kit-0', tool: `tool-${j}` })),
      { toolkit: 'kit-0', tool: 'other' },
      { toolkit: 'kit-1', tool: 'other' },
      { toolkit: 'kit-2', tool: 'other' },
      { toolkit: 'other', tool: 'other' },
    ])
    expect(names.tool('kit-0', 'tool-3')).toEqual({ toolkit: 'kit-0', tool: 'tool-3' })
    expect(['v1', 'v2', 'v3', 'v1'].map(names.workflowVersion)).toEqual(['v1', 'v2', 'other', 'v1'])
  })

  it('have a bounded length', () => {
    expect(boundNames().tool('kit', 'x'.repeat(5000)).tool).toHaveLength(100)
  })
})
