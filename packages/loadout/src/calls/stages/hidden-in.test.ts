import { expect, it } from 'vitest'
import { redactArguments } from '../../audit/redact/redact-arguments.ts'
import { redactedValues } from './with-outcome.ts'

const hidden = (args: Record<string, unknown>, schema?: unknown) =>
  redactedValues(args, redactArguments(args, { schema, secrets: ['a-stored-word'] })).sort()

it('hiddenIn returns masked values and no visible values', () => {
  const schema = { properties: { card: { writeOnly: true }, list: { items: { format: 'password' } } } }
  const inner = { password: 'two', ok: 'shown', no: null, many: [1, 'shown'] }
  expect(hidden({ card: 'one', list: ['three', 'four'], inner, flag: true }, schema)).toEqual([
    'four',
    'one',
    'three',
    'two',
  ])
})

it('hiddenIn returns all values below a masked field and texts that contain a secret', () => {
  expect(hidden({ credentials: { a: 'one', b: ['two', 3] } })).toEqual(['3', 'one', 'two'])
  expect(hidden({ note: 'it is a-stored-word' })).toEqual(['it is a-stored-word'])
  expect(hidden({ 'a-stored-word': 'shown', token: 'hidden' })).toEqual(['hidden'])
})

it('hiddenIn limits the number and the length of returned values', () => {
  const long = { password: 'x'.repeat(1_000_000), list: Array.from({ length: 5000 }, () => ({ token: 'word' })) }
  const found = hidden(long)
  expect(found.length).toBeLessThanOrEqual(1000)
  expect(Math.max(...found.map((one) => one.length))).toBeLessThanOrEqual(4096)
})
