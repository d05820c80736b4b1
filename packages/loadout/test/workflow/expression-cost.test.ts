/** A step of an expression is worth about the same everywhere: whatever is done again and again on a large value ends soon. */
import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../test/prove/work.ts'
import { evaluate } from '../../src/workflow/expressions/evaluate.ts'
import { createReader, LOOPS } from '../../src/workflow/expressions/expression.ts'
import { ExpressionFault } from '../../src/workflow/expressions/expression-error.ts'
import { EXPRESSION_FUNCTIONS, findText, METHODS, splitText } from '../../src/workflow/expressions/functions.ts'

const work = newWork()

const read = createReader()
const MB = 1_000_000
const wide = (marker: string) => Object.fromEntries([...Array(20_000).keys(), marker].map((n) => [`name${n}`, 1]))
const data = {
  l: [...Array(14_000).keys()],
  text: `${'a'.repeat(MB)}c`,
  // The same by its value and not by its place.
  twin: `${'a'.repeat(MB)}c`,
  later: `${'a'.repeat(MB)}d`,
  digits: '1'.repeat(MB - 1).replace(/^1/, '0.'),
  blanks: ' '.repeat(MB),
  // What a search that goes back takes for ever with.
  part: `ab${'a'.repeat(100_000)}`,
  m: wide('x'),
  n: wide('y'),
  one: { name1: 1 },
  many: Array(100_000).fill(''),
  empty: Array(100_000).fill([]),
}

/** Each is done once for every item of `l`. */
const WORK: Record<string, readonly string[]> = {
  size: ['size(m)', 'm.size()', 'size(text)', 'size(many)'],
  string: ['string(m)', 'string(text)'],
  int: ['int(digits)'],
  double: ['double(digits)'],
  number: ['number(digits)'],
  bool: ['bool(text)'],
  json: ['json(text)', 'json(many)'],
  parse_json: ['parse_json(digits)'],
  keys: ['keys(m)'],
  values: ['values(m)'],
  type: ['type(m)'],
  contains: ['text.contains(part)', 'text.contains("zz")', 'many.contains("x")'],
  startsWith: ['text.startsWith(twin)'],
  endsWith: ['text.endsWith(twin)'],
  lowerAscii: ['text.lowerAscii()'],
  upperAscii: ['text.upperAscii()'],
  trim: ['blanks.trim()'],
  indexOf: ['text.indexOf(part)', 'text.indexOf("ab")'],
  substring: ['text.substring(1)'],
  replace: ['text.replace(part, "")', 'text.replace("zz", "")'],
  split: ['text.split(part)', 'text.split("zz")', 'text.split("")'],
  join: ['many.join()', 'many.join("")'],
  first: ['many.first()'],
  last: ['many.last()'],
  slice: ['many.slice(0)'],
  flatten: ['empty.flatten()'],
  distinct: ['many.distinct()'],
  orValue: ['text.orValue(1)'],
  map: ['m.map(k, 1)', 'm.map(k, false, 1)'],
  filter: ['m.filter(k, false)'],
  all: ['m.all(k, true)'],
  exists: ['m.exists(k, true)'],
  exists_one: ['m.exists_one(k, false)'],
  '==': ['text == twin', 'm == n', 'one == m', 'm == one', 'many == empty'],
  '!=': ['text != later', 'm != n'],
  '<': ['text < later'],
  '<=': ['text <= twin'],
  '>': ['text > twin'],
  '>=': ['later >= text'],
  in: ['text in [twin]', 'text in m', 'one in [m]'],
  '+': ['text + twin', 'many + empty'],
  '[]': ['m[text]', 'm[?text]', 'has(m[text])'],
}

describe('the expression cost limit', () => {
  it('covers every function', () => {
    for (const name of [...Object.keys(EXPRESSION_FUNCTIONS), ...Object.keys(METHODS), ...LOOPS])
      expect(WORK).toHaveProperty(name)
  })

  it.each(Object.values(WORK).flat())('%s', (text) => {
    const expression = read(`l.map(i, type(${text}))`)
    work.within({ steps: 40_000_000, ms: 1500 }, () => {
      try {
        expect(evaluate(expression, data)).toHaveLength(data.l.length)
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionFault)
      }
    })
  })

  it('allows work on a large value', () => {
    const get = (text: string) => evaluate(read(text), data)
    expect(get('l.filter(i, size(m) > i)')).toHaveLength(14_000)
    expect(get('[text == twin, text < later, text.contains("ac")]')).toEqual([true, true, true])
    expect(get('m == n')).toBe(false)
    expect(get('double(digits) < 1')).toBe(true)
  })
})

describe('the search in a long text', () => {
  it('returns the same result as the JavaScript engine', () => {
    const part = `${'ab'.repeat(40)}a`
    for (const whole of ['', part, `x${part}`, `${part}${part}y${part}`, `${'ab'.repeat(100)}`, part.slice(1)]) {
      expect(findText(whole, part)).toBe(whole.indexOf(part))
      expect(findText(whole, part, 3)).toBe(whole.indexOf(part, 3))
      expect(splitText(whole, part)).toEqual(whole.split(part))
    }
  })
})
