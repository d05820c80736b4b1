import { expect, it } from 'vitest'
import { asSentence, inText, keysOf, toErrorSchema } from './problem-places.ts'
import { readJson } from './read-json.ts'

it('follows a place through names that have dots in them', () => {
  const value = { 'a.b': { c: [{ 'd.e': 1 }] }, a: 1 }
  expect(keysOf('a.b.c.0.d.e', value)).toEqual(['a.b', 'c', '0', 'd.e'])
  expect(keysOf('x.y', value)).toEqual(['x', 'y'])
  expect(keysOf('(root)', value)).toEqual([])
})

it('puts problems where the form looks for them', () => {
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

it('never writes into a prototype', () => {
  toErrorSchema([{ path: '__proto__.planted', message: 'x' }], {})
  expect(({} as { planted?: unknown }).planted).toBeUndefined()
})

it('finds the place in the text, and the nearest one for what is missing', () => {
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

it('makes sentences of messages', () => {
  expect(asSentence('must be a number')).toBe('Must be a number.')
  expect(asSentence('Really?')).toBe('Really?')
})
