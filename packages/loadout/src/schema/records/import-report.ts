/** Options of an import and its report per entry. The report never contains an input value. */
import { z } from 'zod'

export const MAX_ENTRIES = 200

const inputValue = z.string().max(8192)

export const importOptions = z.strictObject({
  /** Values of inputs, by name. */
  values: z.record(z.string().min(1).max(300), inputValue).optional(),
  /** Names of the entries to import. @default all */
  only: z.array(z.string().max(300)).max(MAX_ENTRIES).optional(),
})
export type ImportOptions = z.infer<typeof importOptions>

/** A `${…}` of a config: an input that needs a value. */
export const importInput = z.object({
  name: z.string(),
  description: z.string().optional(),
  /** Never the default of a secret. */
  default: z.string().optional(),
  options: z.array(z.string()).optional(),
  secret: z.boolean(),
  /** Paths that the value is inserted at. */
  places: z.array(z.string()),
})
export type ImportInput = z.infer<typeof importInput>

export const importedEntry = z.object({
  name: z.string(),
  /** Id of the toolkit, when it exists or would be created. */
  id: z.string().optional(),
  status: z.enum(['added', 'updated', 'needs-input', 'rejected']),
  reason: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  inputs: z.array(importInput),
  /** Names of inputs without a value. */
  missing: z.array(z.string()),
  warnings: z.array(z.string()),
})
export type ImportedEntry = z.infer<typeof importedEntry>

export const importReport = z.object({
  /** Detected config format. */
  shape: z.string(),
  entries: z.array(importedEntry),
  warnings: z.array(z.string()),
})
export type ImportReport = z.infer<typeof importReport>

export const EXPORT_FORMATS = ['mcpServers', 'vscode'] as const
export const exportFormat = z.enum(EXPORT_FORMATS)
export type ExportFormat = z.infer<typeof exportFormat>

/** Config for other apps, with secrets as placeholders. */
export const exportedConfig = z.object({
  mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  servers: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  inputs: z
    .array(
      z.object({ type: z.literal('promptString'), id: z.string(), description: z.string(), password: z.boolean() }),
    )
    .optional(),
  /** Toolkits that have no representation in other apps. */
  skipped: z.array(z.object({ id: z.string(), name: z.string(), reason: z.string() })).optional(),
})
export type ExportedConfig = z.infer<typeof exportedConfig>
