import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { HostError } from '../../errors.ts'
import { parseJson } from '../../schema/json.ts'
import { readJson } from './json.ts'

const work = newWork()

const outcome = (read: (text: string) => unknown, text: string) => {
  try {
    return { value: read(text) }
  } catch (error) {
    return HostError.is(error) ? 'refused' : error instanceof SyntaxError ? 'refused' : error
  }
}

describe('program JSON', () => {
  it('is parsed like all other JSON input', () => {
    const nasty = fc.constantFrom(
      '__proto__',
      '\\u0000',
      '\0',
      '\\',
      '"',
      '\\"',
      '[',
      '{',
      ']',
      'constructor',
      '\ud800',
      'ü',
      '\u2028',
    )
    const tree = fc.jsonValue({ depthSize: 'large' }).map((value) => JSON.stringify(value))
    const odd = fc
      .array(fc.oneof(nasty, fc.string()), { maxLength: 20 })
      .map((parts) => JSON.stringify({ a: parts.join('') }))
    const keys = fc.dictionary(nasty, fc.nat()).map((value) => JSON.stringify(value))
    const raw = fc.array(nasty, { maxLength: 12 }).map((parts) => parts.join(''))
    const deep = fc.integer({ min: 50, max: 80 }).map((n) => '['.repeat(n) + ']'.repeat(n))
    fc.assert(
      fc.property(fc.oneof(tree, odd, keys, raw, deep), (text) => {
        expect(outcome(readJson, text)).toEqual(outcome(parseJson, text))
      }),
      { numRuns: 3000 },
    )
  })

  it('of maximum size is parsed without blocking the event loop', () => {
    for (const text of [
      `[${'[],'.repeat(340_000)}[]]`,
      JSON.stringify('x\\"'.repeat(200_000)),
      `[${'{"a":1},'.repeat(110_000)}1]`,
    ]) {
      // A few steps for each of its characters.
      work.within({ steps: 8 * text.length, ms: 100 }, () => readJson(text))
    }
  })
})
