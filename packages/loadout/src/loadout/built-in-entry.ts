/** Tools of the host itself, as a loadout carries them. Names of other tools begin with `mcp_`: none is taken by its name. */

import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'

/** Where they are called: `loadout.read_result`. A toolkit of that id keeps its own tools, but for these names. */
export const BUILT_IN_TOOLKIT = 'loadout'

/** Their names. Which of them answer is the host's to say. */
export const BUILT_IN_NAMES: ReadonlySet<string> = new Set(['read_result', 'search_tools', 'run_code'])

export const builtInEntry = (manifest: ToolManifest, why: string): LoadoutEntry => ({
  ref: `${BUILT_IN_TOOLKIT}.${manifest.name}`,
  modelName: manifest.name,
  manifest,
  tier: 'app',
  toolkit: BUILT_IN_TOOLKIT,
  tool: manifest.name,
  tokens: tokensOf(manifest),
  deferred: false,
  allowedCallers: ['direct', 'code'],
  included: true,
  reasons: [{ kind: 'tier', speaks: 'for', tier: 'app', detail: why }],
})

// A rule of thumb for JSON: four characters a token. The search counts exactly.
const CHARACTERS_A_TOKEN = 4

/** About what a tool's definition costs in a model's context. */
export function tokensOf({ name, description = '', inputSchema }: ToolManifest): number {
  return Math.ceil((name.length + description.length + JSON.stringify(inputSchema).length) / CHARACTERS_A_TOKEN)
}
