/** Toolkits as people see them: the record, the state of its connection, its tools and what they cost. */
import type { Catalog, CatalogTool } from '../catalog/catalog.ts'
import type { Connector } from '../connections/connector.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ToolkitState, ToolkitView, ToolView } from '../schema/toolkit.ts'
import type { Registry } from '../toolkits/registry.ts'
import { optionsOf, type StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { modelName } from './model-name.ts'

export interface ToolkitViews {
  list(userId: string): Promise<ToolkitView[]>
  one(userId: string, id: string): Promise<ToolkitView>
}

// A rule of thumb for JSON: four characters a token. The search counts exactly.
const CHARACTERS_A_TOKEN = 4

export function createToolkitViews({
  registry,
  catalog,
  connector,
}: {
  registry: Registry
  catalog: Catalog
  connector: Connector
}): ToolkitViews {
  async function views(userId: string, toolkits: readonly StoredToolkit[]): Promise<ToolkitView[]> {
    const tools = await catalog.tools(userId, toolkits)
    return toolkits.map((stored) =>
      viewOf(stored, { tools: tools.get(stored.uscoId) ?? [], live: connector.stateOf(stored, userId) }),
    )
  }
  return {
    list: async (userId) => views(userId, await registry.list(userId)),
    async one(userId, id) {
      const [view] = await views(userId, [await registry.find(userId, id)])
      return view as ToolkitView
    },
  }
}

function viewOf(
  stored: StoredToolkit,
  { tools, live }: { tools: readonly CatalogTool[]; live: ToolkitState | undefined },
): ToolkitView {
  const { toolkit, uscoId, tier, enabled, shadows } = stored
  const shown = tools.filter((tool) => tool.inactive === undefined).map((tool) => viewTool(stored, tool))
  return {
    id: toolkit.id,
    uscoId,
    name: toolkit.name,
    tier,
    readOnly: tier === 'app',
    enabled,
    // An app toolkit's server is the operator's business: users see its kind, not its insides.
    server: tier === 'app' ? { type: toolkit.server.type } : (toolkit.server as unknown as JsonObject),
    options: optionsOf(toolkit),
    state: stateOf(stored, tools, live),
    tools: shown,
    toolCount: shown.length,
    tokens: shown.reduce((sum, tool) => sum + tokensOf(tool), 0),
    setAside: tools.flatMap(({ manifest, inactive }) =>
      inactive === undefined ? [] : [{ name: manifest.name, reason: inactive }],
    ),
    ...(shadows === undefined ? {} : { shadows }),
  }
}

function viewTool({ toolkit }: StoredToolkit, { manifest, pin, changed }: CatalogTool): ToolView {
  const override = Object.hasOwn(toolkit.overrides, manifest.name) ? toolkit.overrides[manifest.name] : undefined
  return {
    ...manifest,
    ref: `${toolkit.id}.${manifest.name}`,
    modelName: modelName(toolkit.id, manifest.name),
    enabled: override?.enabled ?? true,
    pin,
    ...(changed === undefined ? {} : { changed }),
  }
}

/** The truth, as far as it is known: switched off, changed behind our back, the live connection, the last look. */
function stateOf(
  { enabled, row, tier }: StoredToolkit,
  tools: readonly CatalogTool[],
  live: ToolkitState | undefined,
): ToolkitState {
  if (!enabled) return { status: 'disabled' }
  // A person is waited for, and not for ever; whatever else there is to do is still there afterwards.
  if (live?.status === 'input-needed') return live
  const changed = tools.filter((tool) => tool.changed !== undefined && tool.inactive === undefined)
  if (changed.length > 0)
    return {
      status: 'changed',
      reason: `Changed since accepted: ${changed.map((tool) => tool.manifest.name).join(', ')}`,
      action: 'Review the change and accept it.',
    }
  // A connection that stands is no help where its tools cannot be had.
  const failedLook = row.introspectionStatus === 'error'
  const standing = live && live.status !== 'disconnected' && !(failedLook && live.status === 'connected')
  // What a server of the operator prints as it fails is the operator's to read.
  if (standing)
    return tier === 'app' && live.status === 'error' ? { ...live, reason: 'The server could not be reached.' } : live
  if (failedLook)
    return {
      status: 'error',
      reason:
        tier === 'app'
          ? 'The last look at its tools failed.'
          : (row.introspectionReason ?? 'The last look at its tools failed.'),
      action: 'Correct the toolkit, or refresh its tools.',
    }
  return { status: 'disconnected' }
}

const tokensOf = ({ name, description = '', inputSchema }: ToolView) =>
  Math.ceil((name.length + description.length + JSON.stringify(inputSchema).length) / CHARACTERS_A_TOKEN)
