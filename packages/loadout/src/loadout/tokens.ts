import type { ToolManifest } from '../schema/tool.ts'

// A rule of thumb for JSON: four characters a token. The search counts exactly.
const CHARACTERS_A_TOKEN = 4

/** About what a tool's definition costs in a model's context. */
export function tokensOf({ name, description = '', inputSchema }: ToolManifest): number {
  return Math.ceil((name.length + description.length + JSON.stringify(inputSchema).length) / CHARACTERS_A_TOKEN)
}
