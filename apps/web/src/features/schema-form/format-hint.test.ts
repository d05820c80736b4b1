import { expect, it } from 'vitest'
import { formatHint } from './format-hint.ts'
import { readSchema } from './read-schema.ts'
import { checkArguments, checkValue } from './validator.ts'

const schema = {
  type: 'object',
  properties: { at: { type: 'string', format: 'date-time' }, id: { type: 'string', format: 'uuid' } },
  required: ['at'],
}
const values = { at: '2026-01-31T13:45:00', id: '123e4567e89b42d3a456426614174000' }

it('takes arguments of another format and leaves the rest of the schema asserted', () => {
  expect(checkArguments(schema, values)).toEqual([])
  expect(checkArguments(schema, { at: 5 })).toMatchObject([{ path: 'at' }])
  expect(checkArguments(schema, {})).toHaveLength(1)
})

it('asserts formats in answers to servers, which the host asserts too', () => {
  expect(checkValue(schema, values).map(({ path }) => path)).toEqual(['at', 'id'])
})

it('tells which format a field expects while the value has another', () => {
  const read = readSchema(schema)
  const fields = read.ok ? (read.schema.properties as Record<string, object>) : {}
  expect(formatHint(fields.at ?? {}, values.at)).toMatch(/^Expected: a date and time with its zone such as .*\.$/)
  expect(formatHint(fields.id ?? {}, values.id)).toMatch(/^Expected: a UUID such as .*\.$/)
  expect(formatHint(fields.at ?? {}, '2026-01-31T13:45:00Z')).toBeUndefined()
  expect(formatHint(fields.at ?? {}, undefined)).toBeUndefined()
  expect(formatHint({ format: 'unknown' }, 'x')).toBeUndefined()
})
