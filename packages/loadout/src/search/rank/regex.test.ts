import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../json-schema/regex/match.ts'
import { PatternParser } from '../../json-schema/regex/parse.ts'
import { buildSegment } from '../index/segment.ts'
import { isMet, regexScores, requiredLiterals } from './regex.ts'

const tool = (ref: string, description = '') => {
  const [toolkit = '', name = ''] = ref.split('.')
  return { ref, name, toolkit, description, inputSchema: { type: 'object' } }
}
const scoresOf = (pattern: string, ...refs: string[]) => [
  ...(regexScores([buildSegment(refs.map((ref) => tool(ref)))], pattern)[0] as Float32Array),
]
const needs = (pattern: string) => requiredLiterals(new PatternParser(pattern).parse())

describe('an anchored pattern', () => {
  it.each(['^send_', '^send_message$', 'message$', '^mail\\.send', '^(get|send)_', '^Send a letter$'])(
    '%s',
    (pattern) => {
      const tools = [
        { ...tool('mail.send_message'), title: 'Send a letter' },
        tool('mail.resend_all'),
        tool('a.message_b'),
      ]
      expect([...(regexScores([buildSegment(tools)], pattern)[0] as Float32Array)]).toEqual([1, 0, 0])
    },
  )

  it('matches both names of a renamed tool', () => {
    const renamed = { ...tool('mail.send'), name: 'post send' }
    for (const pattern of ['^post$', '^send$']) expect(regexScores([buildSegment([renamed])], pattern)[0]?.[0]).toBe(1)
  })
})

describe('the required literals of a pattern', () => {
  it.each([
    ['(create|new).*issue', [['create', 'new'], ['issue']]],
    ['get_.*_data', [['get_'], ['_data']]],
    ['\\bpdf\\b', [['pdf']]],
    ['(a|b*)c', [['c']]],
    ['(ab){0,3}', []],
    ['x(ab)+', [['x'], ['ab']]],
    ['[a-z]+', []],
  ])('needs for %s the words %j', (pattern, expected) => expect(needs(pattern)).toEqual(expected))

  it('are in every text that the pattern matches', () => {
    const piece = fc.constantFrom('a', 'b', 'ab', '.', '[ab]', '(a|b)', '(ab|c)', '(a|)', '^', '$', '\\b')
    const quantified = fc
      .tuple(piece, fc.constantFrom('', '*', '+', '?', '{2}'))
      .map(([one, many]) =>
        /^[\^$]$|^\\b$/.test(one) ? one : one.length > 1 && !/^[([]/.test(one) ? `(${one})${many}` : one + many,
      )
    fc.assert(
      fc.property(
        fc.array(quantified, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 12 }),
        (source, text) => {
          const pattern = compilePattern(source, 2000)
          if ('unsupported' in pattern) return
          const fits = pattern.test(text, { maxDepth: 100, spend: () => {} })
          if (fits) expect(isMet(needs(source), text)).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('a search pattern', () => {
  it('ignores case, with or without a flag', () => {
    expect(scoresOf('(?i)^SLACK\\.', 'slack.send', 'mail.send')).toEqual([1, 0])
    expect(scoresOf('List_.*', 'github.list_issues', 'github.issues')).toEqual([1, 0])
  })

  it('keeps escapes after a backslash', () => {
    expect(scoresOf('^a\\Wb', 'a.b', 'ab.c')).toEqual([1, 0])
    expect(scoresOf('^\\D\\.', 'a.b', '1.b')).toEqual([1, 0])
  })

  it('with literal words is cheap for ten thousand tools', () => {
    const tools = Array.from({ length: 10_000 }, (_, at) =>
      tool(
        `kit.tool_${at}`,
        'Reads what is there, changes it where that is asked for, and says what it did. '.repeat(5),
      ),
    )
    const segments = [buildSegment([...tools, tool('jira.create_issue')])]
    for (const pattern of ['(create|new).*issue', '.*issue.*', '\\bissue'])
      expect(regexScores(segments, pattern)[0]?.at(-1)).toBe(pattern === '\\bissue' ? 0 : 1)
    expect(() => regexScores(segments, '(.*a){20}')).toThrow(/takes too long/)
  })
})
