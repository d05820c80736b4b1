import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern } from './match.ts'

const free = { maxDepth: 64, spend: () => undefined }

function matches(source: string, text: string): boolean | string {
  const pattern = compilePattern(source, 10_000)
  return 'unsupported' in pattern ? pattern.unsupported : pattern.test(text, free)
}

describe('schema patterns', () => {
  it.each<[string, string, boolean]>([
    ['', '', true],
    ['a|b|', 'c', true],
    ['^(?:a|b)$', 'b', true],
    ['^a{2,3}?$', 'aaaa', false],
    ['^a{0}$', '', true],
    ['^(a*)*$', 'aaa', true],
    ['^(|a)+$', 'aa', true],
    ['^x{$', 'x{', true],
    ['^[]$', '', false],
    ['^[^]$', '\n', true],
    ['^.$', '\n', false],
    ['^.$', '😀', true],
    ['^[a\\-z]$', '-', true],
    ['^[\\w-]+$', 'a-b', true],
    ['^[^\\d\\s]+$', 'ab', true],
    ['^\\$\\@\\_\\-$', '$@_-', true],
    ['^\\cA\\x41\\u0041\\u{41}\\0$', '\u0001AAA\0', true],
    ['^\\uD83D\\uDE00$', '😀', true],
    ['^(?<year>\\d{4})$', '2026', true],
    ['a$', 'a\n', false],
    ['^\\P{L}$', 'é', false],
    ['^\\s$', '\ufeff', true],
    ['^\\d$', '٣', false],
  ])('matches %j on %j: %j', (source, text, expected) => {
    expect(matches(source, text)).toBe(expected)
  })

  it.each([
    '(a)\\1',
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<n>a)\\k<n>',
    '(?i)a',
    'a**',
    '*',
    '(',
    ')',
    '[',
    '[b-a]',
    'a{2,1}',
    '\\',
    '\\p{Nope}',
    '\\pL',
    '\\u{110000}',
    '\\u00',
    '\\x1',
    '\\Z',
    '(?P<n>a)',
    '(a{100}){101}',
    'a{99999}',
  ])('rejects %s', (source) => {
    expect(typeof matches(source, 'a')).toBe('string')
  })

  it('agree with native regular expressions', () => {
    const atoms = [
      'a',
      'b',
      '.',
      '\\d',
      '\\w',
      '\\s',
      '[ab]',
      '[^a]',
      '[a-c1]',
      '\\b',
      '^',
      '$',
      '\\.',
      '-',
      '\\p{L}',
      '',
    ]
    const { source } = fc.letrec<{ source: string }>((tie) => ({
      source: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...atoms),
        fc.tuple(tie('source'), tie('source')).map(([a, b]) => `${a}${b}`),
        fc.tuple(tie('source'), tie('source')).map(([a, b]) => `(?:${a}|${b})`),
        fc
          .tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,}', '{2,}?'))
          .map(([a, q]) => `(${a})${q}`),
      ),
    }))
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '-', '😀', '\n', 'é', '.'), maxLength: 8 })
    fc.assert(
      fc.property(source, text, (anySource, anyText) => {
        expect(matches(anySource, anyText)).toBe(new RegExp(anySource, 'u').test(anyText))
      }),
      { numRuns: 2_000 },
    )
  })
})
