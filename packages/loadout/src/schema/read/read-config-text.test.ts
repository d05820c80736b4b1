import { describe, expect, it } from 'vitest'
import type { HostError } from '../../errors.ts'
import { lineAtPath, MAX_CONFIG_TEXT_LENGTH, readConfigText } from './read-config-text.ts'

const thrownBy = (text: string): HostError => {
  try {
    readConfigText(text)
  } catch (error) {
    return error as HostError
  }
  throw new Error('It was read.')
}

describe('config file text', () => {
  it('accepts JSON with comments and trailing commas', () => {
    const text = '\uFEFF{\n  // the servers\n  "servers": { "a": { "args": ["-y", "x",], }, /* one */ },\n}\n'
    expect(readConfigText(text)).toEqual({ servers: { a: { args: ['-y', 'x'] } } })
    expect(readConfigText('{"a":[1,-2.5e3,true,false,null,"\\u00e4 // no comment"]}')).toEqual({
      a: [1, -2500, true, false, null, 'ä // no comment'],
    })
  })

  it('reports errors by line and column', () => {
    const wrong: Record<string, [text: string, words: RegExp]> = {
      'a missing comma': ['{\n  "a": 1\n  "b": 2\n}', /comma is missing, at line 3, column 3/],
      'a missing brace': ['{\n  "a": {', /closing "}" is missing, at line 2/],
      'single quotes': ["{ 'a': 1 }", /line 1, column 3/],
      'an open string': ['{\n"a": "x\n}', /string is not closed, at line 2, column 6/],
      'two values': ['{} {}', /follows the end, at line 1, column 4/],
      nothing: ['', /line 1, column 1/],
      'only a comment': ['// x', /not valid JSON/],
      words: ['claude mcp add x', /no JSON value, at line 1, column 1/],
    }
    for (const [name, [text, words]] of Object.entries(wrong)) {
      const error = thrownBy(text)
      expect([name, error.code]).toEqual([name, 'invalid-json'])
      expect(error.message).toMatch(words)
      expect(error.action).toContain('Correct the text')
    }
  })

  it('reports a duplicate key', () => {
    const error = thrownBy('{\n "mcpServers": {\n  "a": {},\n  "a": {}\n }\n}')
    expect(error).toMatchObject({ code: 'invalid-input', errors: [{ path: 'mcpServers.a' }] })
    expect(error.message).toContain('line 4, column 3')
  })

  it('rejects keys that reach a prototype', () => {
    for (const text of ['{"__proto__":{"x":1}}', '{"a":{"__proto__":1}}', '{"a":[{"\\u005f_proto__":{}}]}'])
      expect(thrownBy(text)).toMatchObject({
        code: 'invalid-input',
        errors: [{ path: expect.stringMatching(/__proto__$/) }],
      })
    expect(readConfigText('{"constructor":{"prototype":1},"toString":2}')).toMatchObject({ toString: 2 })
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  it('is limited in size and depth', () => {
    for (const pit of ['['.repeat(500_000), '{"a":'.repeat(200_000), `${'['.repeat(65)}${']'.repeat(65)}`])
      expect(thrownBy(pit)).toMatchObject({ code: 'invalid-input' })
    expect(thrownBy(`"${'x'.repeat(MAX_CONFIG_TEXT_LENGTH)}"`)).toMatchObject({ code: 'body-too-large' })
    expect(thrownBy('{"a":"\\u0000"}')).toMatchObject({ code: 'invalid-input', errors: [{ path: 'a' }] })
    expect(readConfigText(`${'['.repeat(60)}${']'.repeat(60)}`)).toHaveLength(1)
  })

  it('gives the line of a path or of its nearest parent', () => {
    const text =
      '// x\n{\n  "mcpServers": {\n    "github": {\n      "command": "x",\n      "args": [\n        "a"\n      ]\n    }\n  }\n}'
    expect(lineAtPath(text, ['mcpServers', 'github', 'command'])).toBe(5)
    expect(lineAtPath(text, ['mcpServers', 'github', 'args', 0])).toBe(7)
    expect(lineAtPath(text, ['mcpServers', 'github', 'url'])).toBe(4)
    expect(lineAtPath(text, ['nothing'])).toBe(2)
    expect(lineAtPath('', ['a'])).toBeUndefined()
    expect(lineAtPath('['.repeat(100_000), [0])).toBeUndefined()
  })
})
