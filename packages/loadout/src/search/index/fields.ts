/** Searchable texts of a tool, by field. */
import type { JsonObject } from '../../schema/json.ts'
import type { SearchTool } from '../search.ts'

export const SEARCH_FIELDS = ['name', 'toolkit', 'description', 'argumentNames', 'argumentWords', 'examples'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]

const MAX_ARGUMENTS = 200
const MAX_DEPTH = 6

export function textsOf(tool: SearchTool): Record<SearchField, string> {
  const names: string[] = []
  const words: string[] = []
  collect(tool.inputSchema, { names, words }, 0)
  return {
    name: tool.title === undefined ? tool.name : `${tool.name} ${tool.title}`,
    toolkit: tool.toolkit,
    description: tool.description ?? '',
    argumentNames: names.join(' '),
    argumentWords: words.join(' '),
    examples: (tool.examples ?? []).join('\n'),
  }
}

function collect(schema: unknown, into: { names: string[]; words: string[] }, depth: number): void {
  if (depth > MAX_DEPTH || typeof schema !== 'object' || schema === null) return
  const { properties, items, description, enum: values } = schema as JsonObject
  if (depth > 0 && typeof description === 'string') into.words.push(description)
  if (depth > 0 && Array.isArray(values))
    into.words.push(...values.slice(0, 20).filter((value) => typeof value === 'string'))
  if (typeof properties === 'object' && properties !== null)
    for (const [name, inner] of Object.entries(properties)) {
      if (into.names.length >= MAX_ARGUMENTS) return
      into.names.push(name)
      collect(inner, into, depth + 1)
    }
  if (typeof items === 'object') collect(items, into, depth + 1)
}
