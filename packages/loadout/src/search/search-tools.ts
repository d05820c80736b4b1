/**
 * `search_tools`: what a model calls to find more. It answers with signatures of one line; what it found is loaded, so that
 * the next step has the schemas. Where the tools of a step cannot change, `names` brings the schemas into the answer.
 */
import { z } from 'zod'
import { ownEntry } from '../loadout/own-entry.ts'
import type { JsonObject } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import type { ToolManifest } from '../schema/tool.ts'
import { definitionOf } from './tokenizer.ts'

const MOST_NAMES = 10
export const MOST_FOUND = 20

export const searchToolsInput = z
  .strictObject({
    query: z.string().max(20_000).optional().describe('What you want to do'),
    names: z.array(z.string().max(200)).max(MOST_NAMES).optional().describe('Tools whose schemas you want'),
    limit: z.number().int().min(1).max(MOST_FOUND).optional(),
  })
  .refine(({ query, names }) => (query?.trim() ?? '') !== '' || (names?.length ?? 0) > 0, {
    message: 'needs "query" or "names"',
    path: ['query'],
  })

const { $schema: _, ...inputSchema } = z.toJSONSchema(searchToolsInput, { io: 'input' })

/** As a model gets it. */
export const SEARCH_TOOLS: ToolManifest = {
  name: 'search_tools',
  description:
    'Finds more tools than you were given. Say in "query" what you want to do; the tools that fit are listed and can be called from your next step on. "names" shows the full schemas of tools that were listed.',
  inputSchema,
  annotations: { readOnlyHint: true },
}

export const SEARCH_ENTRY = ownEntry(SEARCH_TOOLS, 'The host gives it: there are tools that it finds.')

const LONGEST_SENTENCE = 160
const MOST_ARGUMENTS = 12

/** One line: `mcp_github_create_issue(owner: string, title?: string): Creates an issue.` */
export function signatureOf({ modelName, manifest }: Pick<LoadoutEntry, 'modelName' | 'manifest'>): string {
  const { properties, required } = manifest.inputSchema
  const needed = new Set(Array.isArray(required) ? required : [])
  const all = typeof properties === 'object' && properties !== null ? Object.entries(properties as JsonObject) : []
  // What must be given comes first.
  const ordered = [...all.filter(([name]) => needed.has(name)), ...all.filter(([name]) => !needed.has(name))]
  const shown = ordered
    .slice(0, MOST_ARGUMENTS)
    .map(([name, schema]) => `${name}${needed.has(name) ? '' : '?'}: ${typeOf(schema)}`)
  if (ordered.length > shown.length) shown.push('…')
  const said = firstSentence(manifest.description ?? manifest.title ?? '')
  return `${modelName}(${shown.join(', ')})${said === '' ? '' : `: ${said}`}`
}

function typeOf(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return 'any'
  const { type, enum: values, items } = schema as JsonObject
  if (Array.isArray(values) && values.length <= 6 && values.every((value) => String(value).length <= 30))
    return values.map((value) => JSON.stringify(value)).join('|')
  if (type === 'array') return `${typeOf(items)}[]`
  if (Array.isArray(type)) return type.join('|')
  return typeof type === 'string' ? type : 'any'
}

function firstSentence(text: string): string {
  const line = text.trim().split(/\n|(?<=[.!?。])\s/u, 1)[0] ?? ''
  return line.length > LONGEST_SENTENCE ? `${line.slice(0, LONGEST_SENTENCE - 1).trimEnd()}…` : line
}

/** What a model reads of what was found. */
export function foundText(found: readonly LoadoutEntry[]): string {
  if (found.length === 0) return 'No tool fits. Say it in other words, or go on without.'
  return ['These tools can be called from your next step on:', ...found.map((entry) => `- ${signatureOf(entry)}`)].join(
    '\n',
  )
}

/** What a model reads where it asked for schemas. */
export function schemasText(found: readonly LoadoutEntry[], unknown: readonly string[]): string {
  const missing = unknown.length === 0 ? [] : [`There is no tool ${unknown.map((name) => `"${name}"`).join(', ')}.`]
  return [...found.map((entry) => JSON.stringify(definitionOf(entry))), ...missing].join('\n')
}
