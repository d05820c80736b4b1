/** Expressions and templates: what they give, where they fail, and that nothing hostile gets out of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { evaluate } from './evaluate.ts'
import { createReader } from './expression.ts'
import { ExpressionFault } from './expression-error.ts'
import { readCondition, readTemplate } from './template.ts'

const work = newWork()

const read = createReader()
const values = {
  input: {
    name: 'Ann',
    n: 3,
    list: [1, 2, 3],
    nothing: null,
    people: [
      { n: 1, ok: true },
      { n: 2, ok: false },
    ],
  },
  nodes: { 'a-b': { output: { text: 'hi', constructor: 'mine' } } },
}
const get = (text: string, scope: Record<string, unknown> = values) => evaluate(read(text), scope)
const render = (value: unknown, scope: Record<string, unknown> = values) => {
  const { template, problems } = readTemplate(value, read)
  expect(problems).toEqual([])
  return template.render(scope)
}

describe('expressions', () => {
  it.each([
    ['input.name + "!"', 'Ann!'],
    ['input.n + 1', 4],
    ['1 / 2', 0.5],
    ['-input.n % 2 + 10', 9],
    ['nodes["a-b"].output.text', 'hi'],
    ['nodes["a-b"].output.constructor', 'mine'],
    ['input.list[0] == 1 && !(input.n > 3)', true],
    ['input.people.filter(p, p.ok).map(p, p.n)', [1]],
    ['input.people.map(p, p.ok, p.n)', [1]],
    ['input.people.exists(p, p.n == 2)', true],
    ['input.people.all(p, p.n > 0)', true],
    ['input.people.exists_one(p, p.ok)', true],
    ['"name" in input && 2 in input.list', true],
    ['has(input.nothing) ? 1 : 2', 2],
    ['has(input.missing)', false],
    ['input.?missing.orValue("none")', 'none'],
    ['{"a": [input.n, true], "b": null}', { a: [3, true], b: null }],
    ['size(input.name) + size(input.list) + input.list.size()', 9],
    ['input.name.lowerAscii().replace("n", "m").split("m").join("-")', 'a--'],
    ['string(input.list) + json(input.name)', '[1,2,3]"Ann"'],
    ['parse_json("{\\"a\\": 1}").a', 1],
    ['keys({"x": 1}).contains("x")', true],
    ['[[1], [2, 2]].flatten().distinct().last()', 2],
    ['int("7") + double("1.5")', 8.5],
    ['input.list.map(x, input.list.map(y, x * y))[2][2]', 9],
  ])('%s', (text, result) => {
    expect(get(text)).toEqual(result)
  })

  it.each([
    ['input.missing', "There is no 'missing'. There are: name, n, list, nothing, people"],
    ['input.__proto__', "There is no '__proto__'"],
    ['input.list.constructor', 'A list is read by a whole number'],
    ['input.name.length', '"length" cannot be read of a text'],
    ['input.toString', "There is no 'toString'"],
    ['{"__proto__": 1}', "'__proto__' is no name of a field"],
    ['input.list[9]', 'There is no item 9: the list has 3'],
    ['globalThis', "There is no 'globalThis' here. There are: input, nodes"],
    ['input.name + 1', "'+' takes two numbers, two texts or two lists"],
    ['1 / 0', 'It divides by zero'],
    ['input.n ? 1 : 2', 'Must be true or false, and is a number'],
    ['1e308 * 10', 'It gives no number'],
  ])('reports why %s fails', (text, message) => {
    expect(() => get(text)).toThrow(ExpressionFault)
    expect(() => get(text)).toThrow(message)
  })

  it.each([
    ['1 +', 'cannot be read'],
    ['', 'is empty'],
    ['constructor.constructor("x")()', 'cannot be read'],
    ['input.name.matches("(a+)+$")', 'There are no patterns in expressions'],
    ['eval("1")', "There is no function 'eval'"],
    ['size(1, 2)', "'size' takes 1 arguments, and got 2"],
    ['input.name.__defineGetter__("x")', "There is no function '__defineGetter__'"],
    [`${'('.repeat(500)}1${')'.repeat(500)}`, 'it is too large'],
    [`${'1+'.repeat(450)}1`, 'is nested too deeply'],
    [`"${'x'.repeat(5000)}"`, 'is longer than 4000 characters'],
  ])('rejects %.60s before it runs', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('report the names they use and not the names they bind', () => {
    const { names } = read('input.a.b + nodes["x"].output.map(item, item.c + other)[i].d')
    expect(names.map(({ path, isOpen }) => `${path.join('/')}${isOpen ? '*' : ''}`)).toEqual([
      'input/a/b',
      'nodes/x/output',
      'other',
      'i',
    ])
  })
})

describe('expression limits', () => {
  const big = { list: Array.from({ length: 2000 }, (_, n) => n), text: 'x'.repeat(100_000) }
  it.each([
    ['list.map(a, list.map(b, list.map(c, a)))', 'takes too many steps'],
    ['list.filter(a, list.all(b, list.all(c, c >= 0)))', 'takes too many steps'],
    ['list.map(a, text)', undefined],
    ['list.map(a, text + text)', 'makes too much text'],
    ['text.split("").map(a, text.split(""))', 'takes too many steps'],
    ['text.replace("x", text)', 'too'],
    ['list.map(a, list).distinct()', 'takes too many steps'],
    ['list.map(a, list) == list.map(a, list.map(b, b))', 'takes too many steps'],
  ])('%s', (text, message) => {
    work.within({ steps: 2_000_000, ms: 1000 }, () => {
      if (message) expect(() => get(text, big)).toThrow(message)
      else expect(get(text, big)).toHaveLength(2000)
    })
  })

  it('reject a rendered value that is too large', () => {
    expect(() => render('{{ list.map(a, text) }}', big)).toThrow('makes too much text')
  })

  it('report deeply nested data as a fault instead of crashing', () => {
    let deep: unknown = 1
    for (let n = 0; n < 50_000; n++) deep = [deep]
    expect(() => get('deep == other', { deep, other: structuredCloneDeep(50_000) })).toThrow(ExpressionFault)
    expect(() => render('text: {{ deep }}', { deep })).toThrow(ExpressionFault)
  })
})

function structuredCloneDeep(levels: number): unknown {
  let value: unknown = 1
  for (let n = 0; n < levels; n++) value = [value]
  return value
}

describe('templates', () => {
  it('return the value of a lone expression, insert others into text and keep keys and other text', () => {
    expect(
      render({
        '{{key}}': 1,
        whole: '{{ input.list }}',
        text: 'Hi {{input.name}}, {{ {"a": {"b": 1}} }} and {{ "}}" }}{{input.nothing}}.',
        blanks: '  {{ input.n }}  ',
        list: ['x', '{{input.n}}', { deep: '{{input.n > 1}}' }],
      }),
    ).toEqual({
      '{{key}}': 1,
      whole: [1, 2, 3],
      text: 'Hi Ann, {"a":{"b":1}} and }}.',
      blanks: 3,
      list: ['x', 3, { deep: true }],
    })
  })

  it('report every problem with its path', () => {
    const { problems, template } = readTemplate({ a: '{{ 1 + }}', b: ['ok', 'x {{ open'], c: '{{ input.n }}' }, read)
    expect(problems).toEqual([
      { path: ['a'], message: expect.stringContaining('cannot be read: Unexpected token: its end (character 7') },
      { path: ['b', '1'], message: expect.stringContaining('"}}" is missing') },
    ])
    expect(template.isStatic).toBe(false)
    expect(template.dynamicPaths).toEqual([['a'], ['b', '1'], ['c']])
  })

  it('report the path of a failed expression', () => {
    const { template } = readTemplate({ to: ['{{ input.nobody }}'] }, read)
    expect(() => template.render(values)).toThrow("to.0: There is no 'nobody'")
  })

  it('accept conditions with or without braces', () => {
    for (const text of ['input.n == 3', '{{ input.n == 3 }}', ' {{input.n==3}} '])
      expect(readCondition(text, read).template.render(values)).toBe(true)
  })
})

describe('any expression on any data', () => {
  const word = fc.constantFrom(
    'input',
    'nodes',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'a',
    'x',
    '1',
    '"t"',
    'null',
    'true',
    '.',
    '[',
    ']',
    '(',
    ')',
    '{',
    '}',
    ',',
    ':',
    '?',
    '+',
    '-',
    '*',
    '/',
    '%',
    '==',
    '<',
    '&&',
    '||',
    '!',
    ' in ',
    '.map(x, ',
    '.filter(x, ',
    'size(',
    'has(',
    'json(',
    '.split("")',
    '.join()',
    '{{',
    '}}',
    '\\',
    '"',
    "'",
  )
  const text = fc.oneof(
    fc.array(word, { maxLength: 25 }).map((words) => words.join('')),
    fc.string(),
  )
  const hostile = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.constantFrom(
      JSON.parse('{"__proto__": {"polluted": true}, "constructor": null, "hasOwnProperty": 1}'),
      Object.create(null),
    ),
  )
  const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype))

  it('returns plain JSON or a fault and changes nothing', () => {
    fc.assert(
      fc.property(text, hostile, (expression, data) => {
        const scope = { input: data, nodes: { a: { output: data } } }
        const was = JSON.stringify(scope)
        try {
          const result = get(expression, scope)
          expect(typeof result).not.toBe('function')
          expect(result === null ? null : JSON.parse(JSON.stringify(result))).toBeDefined()
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionFault)
        }
        try {
          const { template, problems } = readTemplate({ field: expression }, read)
          if (problems.length === 0) template.render(scope, { steps: 1000 })
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionFault)
        }
        expect(JSON.stringify(scope)).toBe(was)
        expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(before)
      }),
      { numRuns: 3000 },
    )
  })

  it('cannot read inherited properties', () => {
    const inherited = [...Object.getOwnPropertyNames(Object.prototype), 'length', 'map', 'valueOf']
    for (const name of inherited) {
      expect(() => get(`x.${name.replace(/^__proto__$/, '__proto__')}`, { x: {} })).toThrow(ExpressionFault)
      expect(() => get(`x[${JSON.stringify(name)}]`, { x: {} })).toThrow(ExpressionFault)
      expect(() => get(name, { x: {} })).toThrow(ExpressionFault)
    }
  })
})
