import fc from 'fast-check'
import { expect, it } from 'vitest'
import { newWork } from '../../../../test/prove/work.ts'
import { compileGlob, globProblem } from './glob.ts'

const work = newWork()

const matches = (pattern: string, name: string) => compileGlob(pattern).matches(name)

it.each([
  ['read_file', 'read_file', true],
  ['read_file', 'read_files', false],
  ['read_*', 'read_', true],
  ['*', '', true],
  ['*delete*', 'repo.delete_all', true],
  ['get_?', 'get_a', true],
  ['get_?', 'get_', false],
  ['{read,list}_*', 'list_issues', true],
  ['{read,list}_*', 'write_issues', false],
  ['v[0-9]', 'v7', true],
  ['v[!0-9]', 'v7', false],
  ['a[', 'a[', true],
  ['{a', '{a', true],
  ['a.b', 'axb', false],
])('matches %s against %s: %s', (pattern, name, expected) => expect(matches(pattern, name)).toBe(expected))

it('compileGlob agrees with a naive matcher', () => {
  const slow = (pattern: string, name: string): boolean => {
    if (pattern === '') return name === ''
    const [head, rest] = [pattern[0], pattern.slice(1)]
    if (head === '*') return slow(rest, name) || (name !== '' && slow(pattern, name.slice(1)))
    return name !== '' && (head === '?' || head === name[0]) && slow(rest, name.slice(1))
  }
  const text = (letters: string[]) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 9 }).map((chars) => chars.join(''))
  fc.assert(
    fc.property(text(['a', 'b', '*', '?']), text(['a', 'b']), (pattern, name) => {
      expect(matches(pattern, name)).toBe(slow(pattern, name))
    }),
    { numRuns: 5000 },
  )
})

it('compileGlob matches hostile patterns in bounded steps', () => {
  work.within({ steps: 50_000, ms: 100 }, () => {
    expect(matches('*a'.repeat(190), 'a'.repeat(189))).toBe(false)
    expect(matches(`${'*a'.repeat(100)}b`, 'a'.repeat(256))).toBe(false)
    expect(globProblem('{a,b}'.repeat(60))).toContain('alternatives')
    expect(globProblem('{a,b}'.repeat(4) + '*'.repeat(200))).toContain('longer')
    expect(matches('{a,b}'.repeat(60), 'a'.repeat(60))).toBe(false)
  })
  const hostile = compileGlob('{*aab,*aaab,*?aab,*[a]aab}'.padEnd(40, 'a'))
  work.within({ steps: 100 * 10_000, ms: 50 }, () => {
    for (let index = 0; index < 100; index++) hostile.matches('a'.repeat(256))
  })
})
