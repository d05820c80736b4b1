/** Schema alternatives: type unions, nullable schemas, and labels of `anyOf` and `oneOf` choices. */
import { isRecord, type JsonRecord } from './keywords.ts'

/** Schema for any JSON, shown as a JSON editor. */
export const ANY: JsonRecord = { 'x-any-json': true }

/** Keyword with the name of a reference, used as choice label. */
export const NAME = 'x-name'

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean']
const TYPE_LABELS: Record<string, string> = {
  object: 'Object',
  array: 'List',
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  null: 'Nothing (null)',
}

export function typesOf({ type }: JsonRecord): { types: string[]; nullable: boolean } {
  const declared = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
  const types = TYPES.filter((name) => declared.includes(name))
  // Integers are included in numbers.
  return {
    types: types.includes('number') ? types.filter((name) => name !== 'integer') : types,
    nullable: declared.includes('null'),
  }
}

export const isNullSchema = (schema: unknown): boolean =>
  isRecord(schema) && (schema.type === 'null' || (schema.const === null && 'const' in schema))

/** One choice per type of a type union. */
export function byType(keywords: JsonRecord, types: readonly string[], nullable: boolean): JsonRecord {
  const { title, description, default: defaultValue, ...rest } = keywords
  const choices = types.map((type) => ({
    ...rest,
    type,
    title: TYPE_LABELS[type],
    ...(type === 'object' && !rest.properties ? ANY : {}),
  }))
  if (nullable) choices.push({ ...rest, type: 'null', title: TYPE_LABELS.null as string })
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    anyOf: choices.map((choice) => (ANY_KEY in choice ? withoutType(choice) : choice)),
  }
}

const ANY_KEY = 'x-any-json'

function withoutType({ type: _, ...choice }: JsonRecord): JsonRecord {
  return choice
}

/** Labels the choices of `anyOf` and `oneOf`. An optional "this or null" becomes "this". */
export function alternativesOf(keywords: JsonRecord, required: boolean): JsonRecord {
  for (const key of ['anyOf', 'oneOf']) {
    const choices = keywords[key]
    if (!Array.isArray(choices)) continue
    const [only, ...others] = choices.filter((choice) => !isNullSchema(choice))
    if (isRecord(only) && others.length === 0 && (!required || choices.length === 1)) {
      const { [key]: _, default: defaultValue, ...rest } = keywords
      return {
        ...only,
        ...rest,
        ...(defaultValue === undefined || defaultValue === null ? {} : { default: defaultValue }),
      }
    }
    const named = choices.map((choice, index) => ({ title: titleOf(choice, index), ...choice }))
    return { ...keywords, [key]: choices.every((choice) => 'const' in choice) ? named.map(asChoice) : named }
  }
  return keywords
}

/** The form would preselect a constant, so choices drop `const`. */
const asChoice = ({ const: _, ...choice }: JsonRecord): JsonRecord => choice

function titleOf(choice: JsonRecord, index: number): string {
  if (typeof choice[NAME] === 'string' && choice[NAME] !== '') return choice[NAME]
  if ('const' in choice) return asText(choice.const)
  const mark = isRecord(choice.properties)
    ? Object.values(choice.properties).find((property) => isRecord(property) && 'const' in property)
    : undefined
  if (isRecord(mark)) return asText(mark.const)
  if (isRecord(choice.properties) && Array.isArray(choice.required) && choice.required.length > 0)
    return `With ${choice.required.slice(0, 3).join(', ')}`
  return TYPE_LABELS[String(choice.type)] ?? `Choice ${index + 1}`
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 60)
