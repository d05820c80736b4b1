/** Tool schema of a form, its losses, and arguments converted back to the tool's own schema. */
import { BUILT_IN_TOOLKIT } from '../../loadout/built-in-entry.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { ModelSelection } from '../model-call.ts'
import { openaiSchemas } from '../provider-options.ts'
import { type LostInSchema, projectSchema } from './project-schema.ts'
import { restoreArguments } from './restore-arguments.ts'
import type { SchemaProvider } from './schema-rules.ts'

export interface LostInTool extends LostInSchema {
  ref: string
}

export interface FormSchema {
  schema: JsonObject
  /** Sent as a strict schema. */
  strict: boolean
}

/**
 * Server schema, or its projection for a provider. A schema that strict mode cannot express stays unchanged and is not
 * strict.
 */
export function formSchema({ manifest: { inputSchema } }: LoadoutEntry, provider?: SchemaProvider): FormSchema {
  if (provider === undefined) return { schema: inputSchema, strict: false }
  const { schema, lost } = projectSchema(inputSchema, provider)
  if (provider !== 'openai-strict') return { schema, strict: false }
  const isNarrower = lost.some(({ narrows }) => narrows)
  return isNarrower ? { schema: inputSchema, strict: false } : { schema, strict: true }
}

/** Losses of the schemas in a form, by tool. */
export function lostIn(entries: readonly LoadoutEntry[], provider?: SchemaProvider): LostInTool[] {
  return lostBy(entries, () => provider)
}

/** Same for OpenAI, where a tool may set `strict` itself. */
export function lostInOpenAI(entries: readonly LoadoutEntry[], schemas?: SchemaProvider): LostInTool[] {
  return lostBy(entries, (entry) => openaiSchemas(entry, schemas))
}

function lostBy(
  entries: readonly LoadoutEntry[],
  providerOf: (entry: LoadoutEntry) => SchemaProvider | undefined,
): LostInTool[] {
  return entries.flatMap((entry) => {
    const provider = providerOf(entry)
    // Built-in tools correct odd arguments themselves.
    if (provider === undefined || entry.toolkit === BUILT_IN_TOOLKIT) return []
    return projectSchema(entry.manifest.inputSchema, provider).lost.map((lost) => ({ ref: entry.ref, ...lost }))
  })
}

/** Converts arguments of a strict schema back to those of the tool. */
export function argumentsForTool(
  args: JsonObject,
  { name, selection, schemas }: { name: string; selection: ModelSelection; schemas: SchemaProvider | undefined },
): JsonObject {
  if (schemas !== undefined && schemas !== 'openai-strict') return args
  const all = [...selection.tools.map(({ entry }) => entry), ...selection.deferred]
  const entry = all.find(({ modelName }) => modelName === name)
  return entry && formSchema(entry, openaiSchemas(entry, schemas)).strict
    ? restoreArguments(entry.manifest.inputSchema, args)
    : args
}
