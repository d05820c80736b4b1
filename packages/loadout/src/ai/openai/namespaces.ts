/**
 * Groups toolkits into namespaces, of which the model sees only name and description until it searches. A large toolkit
 * is split, because small namespaces are found better. A tool keeps its namespace within a conversation.
 */
import type { JsonObject } from '../../schema/json.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { LIMITS } from '../limits.ts'
import { descriptionOf } from '../model-call.ts'
import { openaiSchemas } from '../provider-options.ts'
import { formSchema } from '../schema/form-schema.ts'

export interface OpenAIFunction {
  type: 'function'
  name: string
  description?: string
  parameters: JsonObject
  strict: boolean
  defer_loading?: true
  allowed_callers?: Array<'direct' | 'programmatic'>
  /** Schema of its text output, for programs. */
  output_schema?: JsonObject
}

export interface OpenAINamespace {
  type: 'namespace'
  name: string
  description: string
  tools: OpenAIFunction[]
}

export interface Namespace {
  name: string
  description: string
  entries: LoadoutEntry[]
}

const MAX_TOOLS = LIMITS['openai-responses'].namespace
const MAX_DESCRIPTION_LENGTH = 400

/** `placed` has the namespaces of tools in earlier turns. */
export function namespacesOf(
  entries: readonly LoadoutEntry[],
  placed: ReadonlyMap<string, string> = new Map(),
): Namespace[] {
  const spaces = new Map<string, LoadoutEntry[]>()
  const add = (name: string, entry: LoadoutEntry) => {
    const group = spaces.get(name)
    if (group) group.push(entry)
    else spaces.set(name, [entry])
  }
  for (const entry of entries) {
    const namespace = placed.get(entry.modelName)
    if (namespace !== undefined) add(namespace, entry)
  }
  const toolkits = new Set(entries.map(({ toolkit }) => toolkit))
  // Full namespaces stay full: each toolkit continues in its last one.
  const numbers = new Map<string, number>()
  for (const entry of entries) {
    if (placed.has(entry.modelName)) continue
    const { toolkit } = entry
    let number = numbers.get(toolkit) ?? 1
    const name = () => (number === 1 ? toolkit : `${toolkit}_${number}`)
    // The id of another toolkit is not used as a namespace.
    while ((number > 1 && toolkits.has(name())) || (spaces.get(name())?.length ?? 0) >= MAX_TOOLS) number++
    numbers.set(toolkit, number)
    add(name(), entry)
  }
  return [...spaces].map(([name, group]) => ({ name, description: descriptionOfAll(group), entries: group }))
}

/** Namespaces that fit, by rank, and the tool names of those that do not. */
export function namespacesWithin(
  room: number,
  spaces: readonly Namespace[],
): { fitting: Namespace[]; dropped: string[] } {
  const overflow = spaces.slice(Math.max(0, room))
  return {
    fitting: spaces.slice(0, Math.max(0, room)),
    dropped: overflow.flatMap(({ entries }) => entries.map(({ modelName }) => modelName)),
  }
}

function descriptionOfAll(entries: readonly LoadoutEntry[]): string {
  const toolkits = [...new Set(entries.map(({ toolkit }) => toolkit))]
  const text = `Tools of ${toolkits.join(', ')}: ${entries.map(({ tool }) => tool).join(', ')}.`
  return text.length > MAX_DESCRIPTION_LENGTH ? `${text.slice(0, MAX_DESCRIPTION_LENGTH - 1)}…` : text
}

export interface FunctionOptions {
  defer?: boolean
  /** Whether provider-run programs may call it. */
  programs?: boolean | undefined
  /** Strict schema, when it expresses the whole input; the tool's own setting takes precedence. */
  schemas?: 'openai-strict' | undefined
}

export function functionOf(
  entry: LoadoutEntry,
  { defer = false, programs, schemas }: FunctionOptions = {},
): OpenAIFunction {
  const description = descriptionOf(entry)
  const { schema: parameters, strict } = formSchema(entry, openaiSchemas(entry, schemas))
  return {
    type: 'function',
    name: entry.modelName,
    ...(description === undefined ? {} : { description }),
    // Server schemas rarely meet the requirements of strict mode.
    parameters,
    strict,
    ...(defer ? { defer_loading: true } : {}),
    ...(programs && entry.allowedCallers.includes('code') ? forPrograms(entry) : {}),
  }
}

function forPrograms({ allowedCallers, manifest: { outputSchema } }: LoadoutEntry): Partial<OpenAIFunction> {
  return {
    allowed_callers: allowedCallers.map((caller) => (caller === 'code' ? 'programmatic' : caller)),
    ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
  }
}

export const namespaceTool = (
  { name, description, entries }: Namespace,
  { programs, schemas }: Pick<FunctionOptions, 'programs' | 'schemas'> = {},
): OpenAINamespace => ({
  type: 'namespace',
  name,
  description,
  tools: entries.map((entry) => functionOf(entry, { defer: true, programs, schemas })),
})
