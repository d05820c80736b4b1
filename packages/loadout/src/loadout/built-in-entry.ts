/** Loadout entries of built-in tools. Names of other tools start with `mcp_`, so they cannot conflict. */

import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'

/** Toolkit ID of built-in tools: `loadout.read_result`. A toolkit with this ID keeps its tools, except these names. */
export const BUILT_IN_TOOLKIT = 'loadout'

/** Names of built-in tools. The host decides which are available. */
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

// Estimate for JSON: 4 characters per token. The search uses a tokenizer.
const CHARACTERS_A_TOKEN = 4

/** Approximate tokens of a tool definition. */
export function tokensOf({ name, description = '', inputSchema }: ToolManifest): number {
  return Math.ceil((name.length + description.length + JSON.stringify(inputSchema).length) / CHARACTERS_A_TOKEN)
}
