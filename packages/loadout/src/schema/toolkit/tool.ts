import { z } from 'zod'
import { type JsonObject, jsonObject, objectSchema } from '../json.ts'
import type { Tier } from '../scope.ts'

/** A tool as a transformer gets it. */
export interface PresentedTool extends ToolManifest {
  providerOptions?: JsonObject
  deferred: boolean
}

/** Origin of a tool. */
export interface ToolSource {
  ref: string
  toolkit: string
  tier: Tier
}

/** Returns the tool as presented to the model, or null to exclude it. */
export type ToolTransformer = (tool: Readonly<PresentedTool>, source: ToolSource) => PresentedTool | null

/** Annotations of a tool. They are untrusted hints: policy decides how much they count. */
export const annotations = z.object({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})
export type Annotations = z.infer<typeof annotations>

/** Maximum description length in storage, and for a model. */
export const MAX_DESCRIPTION = 65_536
export const MODEL_DESCRIPTION = 8192

/** Icons of a tool, and bytes of one icon and of a tool's `_meta`. */
export const MAX_ICONS = 8
export const MAX_ICON_BYTES = 65_536
export const MAX_META_BYTES = 16_384

/** Icon of a tool. Only `data:image/…` and `https:` sources are stored, because others cannot be shown safely. */
export const toolIcon = z.object({
  src: z
    .string()
    .max(MAX_ICON_BYTES)
    .regex(/^(data:image\/|https:\/\/)[^\0]+$/i, 'must begin with "data:image/" or "https://"'),
  mimeType: z.string().max(200).optional(),
  sizes: z.array(z.string().max(50)).max(20).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})
export type ToolIcon = z.infer<typeof toolIcon>

/** Server-defined metadata of a tool, for programs. */
export const toolMeta = jsonObject.refine(
  (meta) => new TextEncoder().encode(JSON.stringify(meta)).length <= MAX_META_BYTES,
  `must be at most ${MAX_META_BYTES / 1024} KB of JSON`,
)

export const toolName = z.string().min(1).max(256)

/** Manifest of a tool as its server lists it. */
export const toolManifest = z.object({
  name: toolName,
  title: z.string().max(500).optional(),
  description: z.string().max(MAX_DESCRIPTION).optional(),
  inputSchema: objectSchema,
  outputSchema: jsonObject.optional(),
  annotations: annotations.optional(),
  icons: z.array(toolIcon).max(MAX_ICONS).optional(),
  _meta: toolMeta.optional(),
})
export type ToolManifest = z.infer<typeof toolManifest>

/** A manifest without icons and `_meta`, which a model does not need and a user does not accept. */
export function functionalManifest({ icons: _icons, _meta, ...manifest }: ToolManifest): ToolManifest {
  return manifest
}

/** Example prompts from the app or a toolkit record; never from the server. */
export const toolExamples = z.array(z.string().trim().min(1).max(1000)).max(50)

/** `toolkit.tool`. A toolkit id has no dot, so the first dot separates; a tool name may contain dots. */
export const toolRef = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,47}\..{1,256}$/su, 'must be "toolkit.tool", for example "filesystem.read_file"')

export interface ToolAddress {
  toolkit: string
  tool: string
}

export function formatToolRef({ toolkit, tool }: ToolAddress): string {
  return `${toolkit}.${tool}`
}

export function parseToolRef(ref: string): ToolAddress | undefined {
  if (!toolRef.safeParse(ref).success) return undefined
  const dot = ref.indexOf('.')
  return { toolkit: ref.slice(0, dot), tool: ref.slice(dot + 1) }
}

/** Caller of a tool: the model or app itself, a program, or a workflow. */
export const caller = z.strictObject({
  type: z.enum(['direct', 'code', 'workflow']),
  toolId: z.string().optional(),
})
export type Caller = z.infer<typeof caller>

export const allowedCaller = z.enum(['direct', 'code'])
export type AllowedCaller = z.infer<typeof allowedCaller>
export const allowedCallers = z.array(allowedCaller).min(1, 'must name at least one of "direct" and "code"')
