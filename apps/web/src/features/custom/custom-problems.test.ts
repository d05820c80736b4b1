import { describe, expect, it } from 'vitest'
import { countOfTool, inCode, inRecordText, otherProblems, placed, problemOfTool } from './custom-problems.ts'
import { freeName, isDrawable, recordText, withField } from './custom-record.ts'

const record = { tools: [{ name: 'a b', inputSchema: { type: 'object' }, execute: 'return (' }], secrets: { KEY: 'x' } }
const text = recordText(record)

describe('a validation problem of a record', () => {
  it('is marked at its position in the text', () => {
    const at = (path: string) => {
      const [found] = inRecordText(text, [{ path, message: 'is wrong' }])
      return text.slice(found?.from, found?.to)
    }
    expect(at('tools.0.name')).toBe('"a b"')
    expect(at('tools.0.execute')).toBe('"return ("')
    expect(at('secrets.KEY')).toBe('"x"')
    expect(at('tools.0.inputSchema')).toBe('{')
    // A missing field is marked at its parent.
    expect(inRecordText(text, [{ path: 'tools.0.title', message: 'is missing' }])[0]?.message).toBe('Title is missing.')
    expect(at('(body)')).toBe('{')
    expect(inRecordText(text, [{ path: 'name', message: 'must not be empty' }])).toEqual([])
  })

  it('is hidden while the text has a syntax error', () => {
    expect(inRecordText('{"tools": [}', [{ path: 'tools', message: 'x' }])).toMatchObject([{ from: 11 }])
  })

  it('belongs to a field of a tool, or to no tool', () => {
    const problems = placed([
      { path: 'server.tools.0.inputSchema.properties.x', message: 'is no schema' },
      { path: 'tools.10.name', message: 'is there twice' },
      { path: 'secrets.a-b', message: 'must be a name' },
      { path: 'name', message: 'must not be empty' },
    ])
    expect(problemOfTool(problems, 0, 'inputSchema')).toBe('properties.x: is no schema')
    expect(problemOfTool(problems, 1, 'name')).toBeUndefined()
    expect([countOfTool(problems, 0), countOfTool(problems, 1), countOfTool(problems, 10)]).toEqual([1, 0, 1])
    expect(otherProblems(problems).map(({ path }) => path)).toEqual(['secrets.a-b'])
  })

  it('is marked in code by line and column', () => {
    const code = 'const a = 1\nreturn ('
    const [found] = inCode(code, 'Unexpected token (line 2, column 8)')
    expect(code.slice(found?.from)).toBe('(')
    expect(inCode(code, 'is too long')).toEqual([{ from: 0, to: 11, message: 'is too long' }])
    expect(inCode(code, undefined)).toEqual([])
  })
})

describe('a record in the form', () => {
  it('keeps unknown fields and removes emptied fields', () => {
    const tool = { name: 'a', hosts: ['x'], examples: ['more'] }
    expect(withField(tool, 'name', 'b')).toEqual({ name: 'b', hosts: ['x'], examples: ['more'] })
    expect(withField(tool, 'hosts', [])).toEqual({ name: 'a', examples: ['more'] })
  })

  it('is drawn only if it has the expected shape', () => {
    expect(isDrawable(record)).toBe(true)
    for (const other of [null, [], {}, { tools: {} }, { tools: ['x'] }, { tools: [], secrets: [] }])
      expect(isDrawable(other), JSON.stringify(other)).toBe(false)
  })

  it('gets a free name for a new tool', () => {
    expect(freeName([], 'new_tool')).toBe('new_tool')
    expect(freeName([{ name: 'new_tool' }, { name: 'new_tool_2' }], 'new_tool')).toBe('new_tool_3')
  })
})
