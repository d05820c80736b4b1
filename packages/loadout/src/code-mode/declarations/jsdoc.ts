/**
 * JSDoc comments of declarations, from schema annotations. Server texts are truncated, invisible characters are
 * removed, and nothing can end the comment early.
 */
import { cleanText } from '../../schema/clean-text.ts'
import type { JsonObject } from '../../schema/json.ts'
import { literalOf } from './type-text.ts'

const MAX_TOOL_TEXT_LENGTH = 2_000
const MAX_TEXT_LENGTH = 400
const MAX_FACT_LENGTH = 80
const LISTED_VALUES = 12

/** Comment of a tool: its description and aliases. */
export function toolComment(text: string | undefined, aliases: readonly string[], indent: string): string {
  const lines = cut(text ?? '', MAX_TOOL_TEXT_LENGTH)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line, index, all) => line !== '' || all[index - 1] !== '')
  const last = [lines.at(-1) ?? '', ...aliases.map((alias) => `Also: ${alias}`)].filter((part) => part !== '').join(' ')
  return comment([...lines.slice(0, -1), last], indent)
}

/** One-line comment of a property or a named type. */
export function schemaComment(schema: JsonObject, indent: string): string {
  const { description, title } = schema
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : ''
  const summary = cut(text, MAX_TEXT_LENGTH).replace(/\s+/g, ' ').trim()
  const facts = factsOf(schema).join('; ')
  const tag = schema.deprecated === true ? '@deprecated' : ''
  return comment([[summary, facts === '' ? '' : `(${facts})`, tag].filter((part) => part !== '').join(' ')], indent)
}

/** Returns an empty text if there is nothing to say; escapes comment ends last. */
function comment(lines: readonly string[], indent: string): string {
  const safe = lines.map((line) => line.replaceAll('*/', '*\\/'))
  if (safe.every((line) => line === '')) return ''
  if (safe.length === 1) return `${indent}/** ${safe[0]} */\n`
  return `${indent}/**\n${safe.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`
}

function cut(text: string, most: number): string {
  const whole = text.length > most * 4 ? text.slice(0, most * 4) : text
  const { text: clean } = cleanText(whole.replace(/\r\n?|[\u2028\u2029]/g, '\n').toWellFormed())
  return clean.trim().length > most
    ? `${clean
        .trim()
        .slice(0, most - 1)
        .toWellFormed()}…`
    : clean.trim()
}

function factsOf(schema: JsonObject): string[] {
  const { format, pattern, contentEncoding } = schema
  return [
    schema.type === 'integer' ? 'integer' : '',
    short(format),
    short(contentEncoding),
    typeof pattern === 'string' ? `pattern ${short(pattern)}` : '',
    rangeOf(schema.minimum, schema.maximum, ''),
    typeof schema.exclusiveMinimum === 'number' ? `more than ${schema.exclusiveMinimum}` : '',
    typeof schema.exclusiveMaximum === 'number' ? `less than ${schema.exclusiveMaximum}` : '',
    typeof schema.multipleOf === 'number' ? `multiple of ${schema.multipleOf}` : '',
    rangeOf(schema.minLength, schema.maxLength, ' characters'),
    rangeOf(schema.minItems, schema.maxItems, ' items'),
    schema.uniqueItems === true ? 'no item twice' : '',
    longEnum(schema.enum),
    valueFact('default', schema.default),
    valueFact('e.g.', Array.isArray(schema.examples) ? schema.examples[0] : schema.example),
  ].filter((fact) => fact !== '')
}

function rangeOf(min: unknown, max: unknown, what: string): string {
  const low = typeof min === 'number'
  const high = typeof max === 'number'
  if (low && high) return min === max ? `${min}${what}` : `${min} to ${max}${what}`
  return low ? `at least ${min}${what}` : high ? `at most ${max}${what}` : ''
}

function short(text: unknown): string {
  return typeof text === 'string' ? cut(text, MAX_FACT_LENGTH).replace(/\s+/g, ' ') : ''
}

function valueFact(word: string, value: unknown): string {
  const text = value === undefined ? undefined : literalOf(value)
  return text === undefined || text.length > MAX_FACT_LENGTH ? '' : `${word} ${short(text)}`
}

/** Lists the first values of an enum that is too long for a type. */
function longEnum(values: unknown): string {
  if (!Array.isArray(values) || values.length <= MAX_LISTED) return ''
  const some = values.slice(0, LISTED_VALUES).flatMap((value) => literalOf(value) ?? [])
  return `one of ${values.length}: ${short(some.join(', '))}…`
}

/** Max enum values in a type. */
export const MAX_LISTED = 60
