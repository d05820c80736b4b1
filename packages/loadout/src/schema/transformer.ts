import type { JsonObject } from './json.ts'
import type { Tier } from './scope.ts'
import type { ToolManifest } from './tool.ts'

/** A tool as a transformer sees it. */
export interface ShownTool extends ToolManifest {
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
export type ToolTransformer = (tool: Readonly<ShownTool>, source: ToolSource) => ShownTool | null
