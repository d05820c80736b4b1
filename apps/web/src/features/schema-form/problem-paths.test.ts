import { expect, it } from 'vitest'
import { asSentence, inText, keysOf, toErrorSchema } from './problem-paths.ts'
import { readJson } from './read-json.ts'

it('keysOf follows a path through names with dots', () => {
  const value = { 'a.b': { c: [{ 'd.e': 1 }] }, a: 1 }
  expect(keysOf('a.b.c.0.d.e', value)).toEqual(['a.b', 'c', '0', 'd.e'])
  expect(keysOf('x.y', value)).toEqual(['x', 'y'])
  expect(keysOf('(root)', value)).toEqual([])
})

it('toErrorSchema places problems at their form fields', () => {
  const problems = [
    { path: 'items.0.name', message: 'is required: a string' },
    { path: '(root)', message: 'must be an object' },
    { path: 'items.0.name', message: 'must be short' },
  ]
  expect(toErrorSchema(problems, {})).toEqual({
    __errors: ['Must be an object.'],
    items: { '0': { name: { __errors: ['Is required: a string.', 'Must be short.'] } } },
  })
})

it('toErrorSchema never writes into a prototype', () => {
  toErrorSchema([{ path: '__proto__.planted', message: 'x' }], {})
  expect(({} as { planted?: unknown }).planted).toBeUndefined()
})

it('a problem is marked at its position in the text, or at the nearest one for a missing field', () => {
  const text = '{"items": [{"name": 5}]}'
  const read = readJson(text)
  if (!read.ok) throw new Error(read.message)
  const problems = [
    { path: 'items.0.name', message: 'must be a string' },
    { path: 'items.0.size', message: 'is required' },
  ]
  const [name, size] = inText(problems, read.node, read.value)
  expect(name && text.slice(name.from, name.to)).toBe('5')
  expect(size).toEqual({ from: 11, to: 12, message: 'Size is required.' })
})

it('asSentence turns messages into sentences', () => {
  expect(asSentence('must be a number')).toBe('Must be a number.')
  expect(asSentence('Really?')).toBe('Really?')
})
