/** What an import takes beside the config, and what it tells of each entry. No value that was given is ever in it. */
import { z } from 'zod'

export const MAX_ENTRIES = 200

const inputValue = z.string().max(8192)

export const importOptions = z.strictObject({
  /** Values of inputs, by name. */
  values: z.record(z.string().min(1).max(300), inputValue).optional(),
  /** The entries that are meant, by name. All of them where it is not given. */
  only: z.array(z.string().max(300)).max(MAX_ENTRIES).optional(),
})
export type ImportOptions = z.infer<typeof importOptions>

/** A `${…}` of a config: a value that somebody must give. */
export const importInput = z.object({
  name: z.string(),
  description: z.string().optional(),
  /** Never that of a secret. */
  default: z.string().optional(),
  options: z.array(z.string()).optional(),
  secret: z.boolean(),
  /** Where its value goes. */
  places: z.array(z.string()),
})
export type ImportInput = z.infer<typeof importInput>

export const importedEntry = z.object({
  name: z.string(),
  /** The toolkit's, where there is or would be one. */
  id: z.string().optional(),
  status: z.enum(['added', 'updated', 'needs-input', 'rejected']),
  reason: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  inputs: z.array(importInput),
  /** Names of inputs that lack a value. */
  missing: z.array(z.string()),
  warnings: z.array(z.string()),
})
export type ImportedEntry = z.infer<typeof importedEntry>

export const importReport = z.object({
  /** How the config was read. */
  shape: z.string(),
  entries: z.array(importedEntry),
  warnings: z.array(z.string()),
})
export type ImportReport = z.infer<typeof importReport>

export const EXPORT_FORMATS = ['mcpServers', 'vscode'] as const
export const exportFormat = z.enum(EXPORT_FORMATS)
export type ExportFormat = z.infer<typeof exportFormat>

/** A config that other apps read, secrets as placeholders. */
export const exportedConfig = z.object({
  mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  servers: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  inputs: z
    .array(
      z.object({ type: z.literal('promptString'), id: z.string(), description: z.string(), password: z.boolean() }),
    )
    .optional(),
  /** Toolkits that no other app can read. */
  skipped: z.array(z.object({ id: z.string(), name: z.string(), reason: z.string() })).optional(),
})
export type ExportedConfig = z.infer<typeof exportedConfig>
