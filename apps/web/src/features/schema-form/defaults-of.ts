import { isRecord } from './keywords.ts'
import { readSchema } from './read-schema.ts'

/** Initial form value from the schema's defaults. */
export function defaultsOf(schema: unknown): Record<string, unknown> {
  const read = readSchema(schema)
  if (!read.ok) return {}
  const own = isRecord(read.schema.default) ? read.schema.default : {}
  const fields = Object.entries(read.schema.properties ?? {}).flatMap(([name, field]) =>
    isRecord(field) && field.default !== undefined ? [[name, field.default] as const] : [],
  )
  return structuredClone({ ...Object.fromEntries(fields), ...own })
}
