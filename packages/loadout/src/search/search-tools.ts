/**
 * `search_tools`: lets a model find more tools. It returns one-line signatures and loads the hits, so that the next
 * step has their schemas. When the tools of a step cannot change, `names` returns the schemas.
 */
import { z } from 'zod'
import { builtInEntry } from '../loadout/built-in-entry.ts'
import { cleanText } from '../schema/clean-text.ts'
import { type JsonObject, parse } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'
import { definitionOf } from './tokens/tokenizer.ts'

const MAX_NAMES = 10
export const MAX_RESULTS = 20

export const searchToolsInput = z
  .strictObject({
    query: z.string().max(20_000).optional().describe('What you want to do'),
    names: z.array(z.string().max(200)).max(MAX_NAMES).optional().describe('Tools whose schemas you want'),
    limit: z.number().int().min(1).max(MAX_RESULTS).optional(),
  })
  .refine(({ query, names }) => (query?.trim() ?? '') !== '' || (names?.length ?? 0) > 0, {
    message: 'needs "query" or "names"',
    path: ['query'],
  })

/** Written out, because converting the schema at load would cost every import of the library; a test compares both. */
const inputSchema = {
  type: 'object',
  properties: {
    query: { description: 'What you want to do', type: 'string', maxLength: 20_000 },
    names: {
      description: 'Tools whose schemas you want',
      maxItems: MAX_NAMES,
      type: 'array',
      items: { type: 'string', maxLength: 200 },
    },
    limit: { type: 'integer', minimum: 1, maximum: MAX_RESULTS },
  },
  additionalProperties: false,
} satisfies JsonObject

/** Manifest for the model. */
export const SEARCH_TOOLS: ToolManifest = {
  name: 'search_tools',
  description:
    'Finds more tools than you were given. Say in "query" what you want to do; the tools that fit are listed and can be called from your next step on. "names" shows the full schemas of tools that were listed.',
  inputSchema,
  annotations: { readOnlyHint: true },
}

export const SEARCH_ENTRY = builtInEntry(SEARCH_TOOLS, 'The host gives it: there are tools that it finds.')

const MAX_SENTENCE_LENGTH = 160
const MAX_NAME_LENGTH = 64
const MAX_VALUE_LENGTH = 30
const MAX_ARGUMENTS_LENGTH = 300
const MAX_ARGUMENTS = 12
const MAX_VALUES = 6
const MAX_DEPTH = 3
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const LINE_BREAK = /[\p{Cc}\p{Zl}\p{Zp}]/u
/** Names without quotes cannot be confused with the surrounding syntax. */
const PLAIN_NAME = /^[\p{L}\p{N}_$@.-]+$/u

/**
 * One line: `mcp_github_create_issue(owner: string, title?: string): Creates an issue.` Servers write these texts, so
 * every part is on one line, visible and of bounded length.
 */
export function signatureOf({ modelName, manifest }: Pick<LoadoutEntry, 'modelName' | 'manifest'>): string {
  const { properties, required } = manifest.inputSchema
  const needed = new Set(Array.isArray(required) ? required : [])
  const entries = typeof properties === 'object' && properties !== null ? Object.entries(properties as JsonObject) : []
  // Required arguments come first.
  const ordered = [...entries.filter(([name]) => needed.has(name)), ...entries.filter(([name]) => !needed.has(name))]
  const formatted: string[] = []
  let length = 0
  for (const [name, schema] of ordered.slice(0, MAX_ARGUMENTS)) {
    const argument = `${nameOf(name)}${needed.has(name) ? '' : '?'}: ${typeOf(schema, 0)}`
    length += argument.length
    if (length > MAX_ARGUMENTS_LENGTH) break
    formatted.push(argument)
  }
  if (ordered.length > formatted.length) formatted.push('…')
  const summary = firstSentence(manifest.description ?? manifest.title ?? '')
  return `${modelName}(${formatted.join(', ')})${summary === '' ? '' : `: ${summary}`}`
}

function nameOf(name: string): string {
  const line = oneLine(name, MAX_NAME_LENGTH)
  return PLAIN_NAME.test(line) ? line : JSON.stringify(line)
}

function typeOf(schema: unknown, depth: number): string {
  if (typeof schema !== 'object' || schema === null) return 'any'
  const { type, enum: values, items } = schema as JsonObject
  if (Array.isArray(values) && values.length > 0 && values.length <= MAX_VALUES && values.every(isInlineValue))
    return values.map((value) => JSON.stringify(value)).join('|')
  if (type === 'array') return depth < MAX_DEPTH ? `${typeOf(items, depth + 1)}[]` : 'array'
  const types = (Array.isArray(type) ? type : [type]).filter((name) => TYPES.has(name))
  return types.length === 0 ? 'any' : [...new Set(types)].join('|')
}

/** A value that fits on the line as it is. */
const isInlineValue = (value: unknown) =>
  value === null ||
  ['number', 'boolean'].includes(typeof value) ||
  (typeof value === 'string' && value.length <= MAX_VALUE_LENGTH && oneLine(value, MAX_VALUE_LENGTH) === value)

function firstSentence(text: string): string {
  const sentence =
    text
      .slice(0, 10 * MAX_SENTENCE_LENGTH)
      .trim()
      .split(LINE_BREAK, 1)[0] ?? ''
  return oneLine(sentence.split(/(?<=[.!?。])\s/u, 1)[0] ?? '', MAX_SENTENCE_LENGTH)
}

/** Removes line breaks and invisible characters, and truncates. */
function oneLine(text: string, maxLength: number): string {
  const spaced = text.slice(0, 2 * maxLength).replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
  const line = cleanText(spaced).text.toWellFormed().trim()
  const isCut = line.length > maxLength || text.length > 2 * maxLength
  return isCut
    ? `${line
        .slice(0, maxLength - 1)
        .toWellFormed()
        .trimEnd()}…`
    : line
}

/** Search result for the model: new tools, and matching tools that it already has. */
export function formatResults(found: readonly LoadoutEntry[], existing: readonly LoadoutEntry[] = []): string {
  const lines = (title: string, entries: readonly LoadoutEntry[]) =>
    entries.length === 0 ? [] : [title, ...entries.map((entry) => `- ${signatureOf(entry)}`)]
  const sections = [
    ...lines('These tools can be called from your next step on:', found),
    ...lines('These you have already:', existing),
  ]
  return sections.length === 0 ? 'No tool fits. Say it in other words, or go on without.' : sections.join('\n')
}

/** Schemas for the model, one per line. */
export function schemasText(found: readonly LoadoutEntry[], unknown: readonly string[]): string {
  const missing = unknown.length === 0 ? [] : [`There is no tool ${unknown.map((name) => `"${name}"`).join(', ')}.`]
  return [...found.map((entry) => inOneLine(definitionOf(entry))), ...missing].join('\n')
}

const inOneLine = (value: unknown) =>
  JSON.stringify(value).replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Normalizes model input: models write null for omitted fields, numbers as texts, and numbers that are too large. */
export function readSearchInput(input: JsonObject): z.output<typeof searchToolsInput> {
  const fields = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
  const limit = typeof fields.limit === 'string' && fields.limit.trim() !== '' ? Number(fields.limit) : fields.limit
  const isCount = typeof limit === 'number' && Number.isFinite(limit)
  return parse(searchToolsInput, {
    ...fields,
    ...(isCount ? { limit: Math.min(Math.max(1, Math.round(limit)), MAX_RESULTS) } : {}),
  })
}
