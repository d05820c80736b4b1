import { describe, expect, it } from 'vitest'
import { readJson } from './read-json.ts'

const SAMPLES = ['{}', '[]', '"a\\u00e9\\n"', '-1.5e3', 'null', ' { "a" : [1, {"b": true}], "c.d": "x" } ', '[[],[[]]]']

describe('readJson', () => {
  for (const text of SAMPLES)
    it(`reads ${text} as JSON.parse does`, () => {
      const read = readJson(text)
      expect(read.ok && read.value).toEqual(JSON.parse(text))
    })

  it('returns the position of each part', () => {
    const text = '{"a": [1, {"b": "deep"}]}'
    const read = readJson(text)
    if (!read.ok) throw new Error(read.message)
    const b = read.node.children?.get('a')?.children?.get('1')?.children?.get('b')
    expect(b && text.slice(b.from, b.to)).toBe('"deep"')
  })

  const MISTAKES: [text: string, at: number, message: RegExp][] = [
    ['', 0, /missing/],
    ['{"a": 1,}', 7, /comma too many/],
    ['{"a" 1}', 5, /colon/],
    ['{"a": 1 "b": 2}', 8, /comma is missing/],
    ['{"a": [1, 2', 11, /\] is missing/],
    ["{'a': 1}", 1, /double quotes/],
    ['"never', 0, /no end/],
    ['"a\nb"', 0, /escaped/],
    ['1 2', 2, /after the value/],
    ['[01]', 2, /comma is missing/],
    ['{"a": nope}', 6, /expected/],
    ['['.repeat(5000), 200, /too deep/],
  ]
  for (const [text, at, message] of MISTAKES)
    it(`finds the syntax error in ${text.slice(0, 20) || 'nothing'}`, () => {
      expect(() => JSON.parse(text)).toThrow()
      const read = readJson(text)
      expect(read).toMatchObject({ ok: false, at })
      expect(!read.ok && read.message).toMatch(message)
    })

  it('keeps __proto__ as an ordinary name', () => {
    const read = readJson('{"__proto__": {"a": 1}}')
    expect(read.ok && Object.keys(read.value as object)).toEqual(['__proto__'])
    expect(({} as { a?: number }).a).toBeUndefined()
  })
})
