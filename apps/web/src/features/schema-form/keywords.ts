/** Keywords that the form copies from a schema, each with its type check. */
import { PLAIN_FORMAT } from './format-hint.ts'

export type JsonRecord = Record<string, unknown>

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Formats with their own widget; others are text. */
const FORMATS = new Set(['date', 'date-time', 'email', 'uri', 'password'])
const MAX_TEXT = 4000
const MAX_CHOICES = 1000
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', ...COUNTS]

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

export function readKeywords(schema: JsonRecord): JsonRecord {
  const keywords: JsonRecord = {}
  for (const key of ['title', 'description'])
    if (typeof schema[key] === 'string' && schema[key] !== '') keywords[key] = schema[key].slice(0, MAX_TEXT)
  for (const key of NUMBERS) if (isNumber(schema[key])) keywords[key] = schema[key]
  for (const key of ['uniqueItems', 'readOnly', 'deprecated']) if (schema[key] === true) keywords[key] = true
  if (typeof schema.format === 'string')
    keywords[FORMATS.has(schema.format) ? 'format' : PLAIN_FORMAT] = schema.format.slice(0, 100)
  if (Array.isArray(schema.enum) && schema.enum.length > 0) keywords.enum = schema.enum.slice(0, MAX_CHOICES)
  if (schema.const !== undefined) {
    keywords.const = schema.const
    keywords.enum = [schema.const]
  }
  if (schema.default !== undefined) keywords.default = schema.default
  if (Array.isArray(schema.examples)) keywords.examples = schema.examples.filter(isPrimitive).slice(0, 20)
  if (Array.isArray(schema.required)) keywords.required = schema.required.filter((name) => typeof name === 'string')
  return keywords
}

const isPrimitive = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** Whether a value has a JSON Schema type. */
export function fits(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
