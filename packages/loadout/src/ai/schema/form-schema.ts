/** The schema that a form sends of a tool, what it lost, and the arguments as the tool means them. */
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
  /** Sent as one that the model's words must follow. */
  strict: boolean
}

/** As the server wrote it; with a provider, as that takes it. What a strict one cannot say stays as it was, and is not strict. */
export function formSchema({ manifest: { inputSchema } }: LoadoutEntry, provider?: SchemaProvider): FormSchema {
  if (provider === undefined) return { schema: inputSchema, strict: false }
  const { schema, lost } = projectSchema(inputSchema, provider)
  if (provider !== 'openai-strict') return { schema, strict: false }
  const isNarrower = lost.some(({ narrows }) => narrows)
  return isNarrower ? { schema: inputSchema, strict: false } : { schema, strict: true }
}

/** What the schemas of a form lost, by tool. */
export function lostIn(entries: readonly LoadoutEntry[], provider?: SchemaProvider): LostInTool[] {
  return lostBy(entries, () => provider)
}

/** The same where OpenAI reads it, and a tool may say for itself that it is strict. */
export function lostInOpenAI(entries: readonly LoadoutEntry[], schemas?: SchemaProvider): LostInTool[] {
  return lostBy(entries, (entry) => openaiSchemas(entry, schemas))
}

function lostBy(
  entries: readonly LoadoutEntry[],
  providerOf: (entry: LoadoutEntry) => SchemaProvider | undefined,
): LostInTool[] {
  return entries.flatMap((entry) => {
    const provider = providerOf(entry)
    if (provider === undefined) return []
    return projectSchema(entry.manifest.inputSchema, provider).lost.map((lost) => ({ ref: entry.ref, ...lost }))
  })
}

/** The arguments of a call by the schema that the tool has, where the model was shown a closed one. */
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
