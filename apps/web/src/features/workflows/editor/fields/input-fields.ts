/** Workflow inputs as rows, converted from and to JSON Schema. */
import type { JsonObject } from '../../definition/definition.ts'

export const INPUT_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const
export type InputType = (typeof INPUT_TYPES)[number]

export interface InputRow {
  /** Stable key while the row is renamed. */
  key: number
  name: string
  type: InputType
  required: boolean
  description: string
  /** Preserved keywords without a column: defaults, items, formats. */
  rest: JsonObject
}

/** Undefined if rows cannot express the schema. */
export function inputRows(schema: JsonObject = {}): InputRow[] | undefined {
  const { type = 'object', properties = {}, required = [], ...more } = schema
  if (type !== 'object' || !isObject(properties) || !Array.isArray(required)) return undefined
  if (Object.keys(more).some((key) => !PASSTHROUGH_KEYS.has(key))) return undefined
  const rows = Object.entries(properties).map(([name, field], key) => rowOf({ key, name, field, required }))
  return rows.every((row) => row !== undefined) ? rows : undefined
}

const PASSTHROUGH_KEYS = new Set(['additionalProperties', 'title', 'description', '$schema'])

interface RowInput {
  key: number
  name: string
  field: unknown
  required: readonly unknown[]
}

function rowOf({ key, name, field, required }: RowInput): InputRow | undefined {
  if (!isObject(field)) return undefined
  const { type, description = '', ...rest } = field
  const inputType = INPUT_TYPES.find((value) => value === type)
  if (!inputType || typeof description !== 'string') return undefined
  return { key, name, type: inputType, required: required.includes(name), description, rest }
}

export function schemaOf(rows: readonly InputRow[], before: JsonObject = {}): JsonObject {
  const passthrough = Object.fromEntries(Object.entries(before).filter(([key]) => PASSTHROUGH_KEYS.has(key)))
  const properties = rows.map(({ name, type, description, rest }) => [
    name,
    { type, ...(description === '' ? {} : { description }), ...fitting(type, rest) },
  ])
  const required = rows.filter((row) => row.required).map(({ name }) => name)
  return {
    ...passthrough,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** Drops keywords that do not apply to the type. */
function fitting(type: InputType, rest: JsonObject): JsonObject {
  const { items, properties, ...others } = rest
  return {
    ...others,
    ...(type === 'array' && items !== undefined ? { items } : {}),
    ...(type === 'object' && properties !== undefined ? { properties } : {}),
  }
}

export function newRow(rows: readonly InputRow[]): InputRow {
  const names = new Set(rows.map(({ name }) => name))
  let count = rows.length + 1
  while (names.has(`input_${count}`)) count++
  const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
  return { key, name: `input_${count}`, type: 'string', required: true, description: '', rest: {} }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
