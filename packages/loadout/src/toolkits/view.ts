import type { JsonObject } from '../schema/json.ts'
import type { ToolkitState, ToolkitView, ToolView } from '../schema/toolkit.ts'
import { optionsOf, type StoredToolkit } from './stored-toolkit.ts'

/** A toolkit as the API shows it. An app toolkit's server is the operator's business: users see its kind, not its insides. */
export function viewToolkit(
  stored: StoredToolkit,
  { state, tools, tokens, detail }: { state: ToolkitState; tools: ToolView[]; tokens: number; detail: 'full' | 'kind' },
): ToolkitView {
  const { toolkit, uscoId, tier, enabled, shadows } = stored
  const server = toolkit.server as unknown as JsonObject
  return {
    id: toolkit.id,
    uscoId,
    name: toolkit.name,
    tier,
    readOnly: tier === 'app',
    enabled,
    server: detail === 'full' ? server : { type: toolkit.server.type },
    options: optionsOf(toolkit),
    state: enabled ? state : { status: 'disabled' },
    tools,
    toolCount: tools.length,
    tokens,
    ...(shadows === undefined ? {} : { shadows }),
  }
}
