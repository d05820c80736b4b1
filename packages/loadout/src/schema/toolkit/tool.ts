import { z } from 'zod'
import { type JsonObject, jsonObject, objectSchema } from '../json.ts'
import type { Tier } from '../scope.ts'

/** A tool as a transformer sees it. */
export interface PresentedTool extends ToolManifest {
  providerOptions?: JsonObject
  deferred: boolean
}

/** Where the tool comes from. */
export interface ToolSource {
  ref: string
  toolkit: string
  tier: Tier
}

/** Gives the tool as it is to be shown, or null to leave it out. */
export type ToolTransformer = (tool: Readonly<PresentedTool>, source: ToolSource) => PresentedTool | null

/** What a server claims of a tool's effects. Claims: policy decides what they are worth. */
export const annotations = z.object({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})
export type Annotations = z.infer<typeof annotations>

/** Characters of a description that are kept for people, and those that a model gets. */
export const MAX_DESCRIPTION = 65_536
export const MODEL_DESCRIPTION = 8192

/** Icons of a tool, and bytes of one icon and of a tool's `_meta`. */
export const MAX_ICONS = 8
export const MAX_ICON_BYTES = 65_536
export const MAX_META_BYTES = 16_384

/** A picture of a tool. Only `data:image/…` and `https:` sources are kept: no other kind can be shown safely. */
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

/** What a server adds to a tool for programs. */
export const toolMeta = jsonObject.refine(
  (meta) => new TextEncoder().encode(JSON.stringify(meta)).length <= MAX_META_BYTES,
  `must be at most ${MAX_META_BYTES / 1024} KB of JSON`,
)

export const toolName = z.string().min(1).max(256)

/** What a server says of one tool. */
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

/** A manifest without icons and `_meta`, which mean nothing to a model and are no part of what a person accepts. */
export function functionalManifest({ icons: _icons, _meta, ...manifest }: ToolManifest): ToolManifest {
  return manifest
}

/** What people ask for when they need a tool, given by who defines or lists it; never by its server. */
export const toolExamples = z.array(z.string().trim().min(1).max(1000)).max(50)

/** `toolkit.tool`. The toolkit's id has no dot, so the first one divides; a tool's own dots stay its own. */
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

/** Who asks for a call: the model or app itself, a program, or a workflow. */
export const caller = z.strictObject({
  type: z.enum(['direct', 'code', 'workflow']),
  toolId: z.string().optional(),
})
export type Caller = z.infer<typeof caller>

export const allowedCaller = z.enum(['direct', 'code'])
export type AllowedCaller = z.infer<typeof allowedCaller>
export const allowedCallers = z.array(allowedCaller).min(1, 'must name at least one of "direct" and "code"')
