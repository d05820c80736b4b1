/** Views of toolkits for users: record, connection state, tools and token costs. */

import type { Catalog, CatalogTool } from '../catalog/catalog.ts'
import { isNoneUsable } from '../catalog/read-manifests.ts'
import type { Connector } from '../connections/connector.ts'
import { redactState } from '../connections/redact-errors.ts'
import type { OAuthService } from '../oauth/service.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Tier } from '../schema/scope.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import type { SignInView } from '../schema/toolkit/sign-in.ts'
import type {
  ListedToolkit,
  Toolkit,
  ToolkitOptions,
  ToolkitState,
  ToolkitView,
  ToolView,
} from '../schema/toolkit/toolkit.ts'
import type { LastFailure } from '../toolkits/last-failure.ts'
import type { Registry } from '../toolkits/registry.ts'
import { secretFieldsOf } from '../toolkits/secrets/secret-values.ts'
import { optionsOf, type StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { tokensOf } from './built-in-entry.ts'
import { candidatesOf, offInToolkit, UNACCEPTED } from './candidates.ts'
import type { Loadouts } from './loadouts.ts'
import { toolModelName } from './model-name.ts'

export interface ToolkitViews {
  list(userId: string): Promise<ToolkitView[]>
  /** List without schemas and predefined manifests; long descriptions are shortened. */
  summaries(userId: string): Promise<ListedToolkit[]>
  one(userId: string, id: string): Promise<ToolkitView>
  /** View of an app toolkit for operators. */
  asOperator(stored: StoredToolkit): Promise<ToolkitView & { source?: string }>
}

export interface ViewDeps {
  registry: Registry
  catalog: Catalog
  connector: Connector
  loadouts: Pick<Loadouts, 'resolve'>
  signIns: Pick<OAuthService, 'view'>
}

export function createToolkitViews({ registry, catalog, connector, loadouts, signIns }: ViewDeps): ToolkitViews {
  async function views(userId: string, read: () => Promise<readonly StoredToolkit[]>): Promise<ToolkitView[]> {
    // Names and switches come from the loadout, so that both agree. It comes first, because it introspects new
    // toolkits.
    const { entries } = await loadouts.resolve({ userId }, { background: true })
    const toolkits = await read()
    const tools = await catalog.tools(userId, toolkits)
    const byToolkit = Map.groupBy(entries, (entry) => entry.uscoId)
    const signedIn = await Promise.all(toolkits.map((stored) => signIns.view(stored, userId)))
    const discovered = await Promise.all(toolkits.map((stored) => catalog.discoveredAt(stored, userId)))
    return toolkits.map((stored, index) =>
      viewOf(stored, {
        signIn: signedIn[index],
        discoveredAt: discovered[index],
        tools: tools.get(stored.uscoId) ?? [],
        entries: byToolkit.get(stored.uscoId) ?? [],
        live: connector.stateOf(stored, userId),
        operator: false,
      }),
    )
  }
  return {
    list: (userId) => views(userId, () => registry.list(userId)),
    summaries: async (userId) => (await views(userId, () => registry.list(userId))).map(withoutSchemas),
    async one(userId, id) {
      const [view] = await views(userId, async () => [await registry.find(userId, id)])
      return view as ToolkitView
    },
    async asOperator(stored) {
      const tools = (await catalog.tools(stored.userId, [stored])).get(stored.uscoId) ?? []
      const { toolkit, tier, uscoId } = stored
      const entries = candidatesOf({ toolkit, tier, uscoId, tools }).map(({ blockedBy, ...candidate }) => ({
        ...candidate,
        included: blockedBy === undefined,
        reasons: blockedBy ? [blockedBy] : [],
      }))
      const live = connector.stateOf(stored, stored.userId)
      const { source } = toolkit
      return {
        ...viewOf(stored, { tools, entries, live, discoveredAt: stored.row.introspectedAt, operator: true }),
        ...(source === undefined ? {} : { source }),
      }
    },
  }
}

function withoutSchemas({ tools, options, ...view }: ToolkitView): ListedToolkit {
  const { tools: _, ...rest } = options
  return {
    ...view,
    options: rest,
    tools: tools.map(({ inputSchema: _in, outputSchema: _out, icons: _icons, _meta, ...toolView }) => {
      const { changed, minorChange, description, ...tool } = toolView
      return {
        ...tool,
        ...(description === undefined ? {} : { description: previewOf(description) }),
        ...(changed === undefined ? {} : { changed: {} }),
        ...(minorChange === undefined ? {} : { minorChange: {} }),
      }
    }),
  }
}

const PREVIEW = 240

/** The beginning of a long text, cut at a word. */
function previewOf(text: string): string {
  if (text.length <= PREVIEW) return text
  const cut = text.slice(0, PREVIEW)
  const space = cut.lastIndexOf(' ')
  return `${(space > PREVIEW / 2 ? cut.slice(0, space) : cut).toWellFormed().trimEnd()}…`
}

interface ViewInput {
  tools: readonly CatalogTool[]
  entries: readonly LoadoutEntry[]
  live: ToolkitState | undefined
  signIn?: SignInView | undefined
  discoveredAt: Date | null | undefined
  /** Whether the viewer is an operator. */
  operator: boolean
}

function viewOf(stored: StoredToolkit, input: ViewInput): ToolkitView {
  const { tools, entries, live, signIn, discoveredAt, operator } = input
  const { toolkit, uscoId, tier, enabled, shadows } = stored
  const entryOf = new Map(entries.map((entry) => [entry.tool, entry]))
  const visible = tools.filter((tool) => tool.inactive === undefined)
  // Users see the type of an app server, not its configuration.
  const closed = tier === 'app' && !operator
  return {
    id: toolkit.id,
    uscoId,
    name: toolkit.name,
    tier,
    readOnly: closed || toolkit.source !== undefined,
    enabled,
    server: closed ? { type: toolkit.server.type } : (toolkit.server as unknown as JsonObject),
    secretFields: closed ? [] : secretFieldsOf(toolkit.server),
    options: visibleOptions(toolkit, closed),
    ...(signIn ? { signIn } : {}),
    state: stateOf(stored, visible, {
      live: liveState(live, signIn),
      closed,
      unaccepted: closed ? [] : unacceptedOf(entries),
    }),
    tools: visible.map((tool) => viewTool(stored, tool, entryOf.get(tool.manifest.name))),
    toolCount: visible.length,
    ...(discoveredAt ? { discoveredAt: discoveredAt.toISOString() } : {}),
    tokens: visible.reduce((sum, { manifest }) => sum + (entryOf.get(manifest.name)?.tokens ?? tokensOf(manifest)), 0),
    ...warningsOf(stored.row, closed),
    setAside: tools.flatMap(({ manifest, inactive }) =>
      inactive === undefined ? [] : [{ name: manifest.name, reason: inactive }],
    ),
    ...(shadows === undefined ? {} : { shadows }),
  }
}

/** `introspectionReason` holds warnings after a success and the error after a failure. */
function warningsOf({ introspectionStatus, introspectionReason }: StoredToolkit['row'], closed: boolean) {
  if (closed || introspectionStatus !== 'success' || !introspectionReason) return {}
  return { warnings: introspectionReason.split('\n') }
}

/** An open connection may have an expired token: then the state is sign-in-needed. */
function liveState(live: ToolkitState | undefined, signIn: SignInView | undefined): ToolkitState | undefined {
  if (signIn?.status !== 'sign-in-needed' || live?.status === 'sign-in-needed') return live
  return { status: 'sign-in-needed', reason: 'You are not signed in to this server.', action: 'Sign in.' }
}

/** Users see the file name of a source, not its path. */
function visibleOptions(toolkit: Toolkit, closed: boolean): ToolkitOptions {
  const { source, ...options } = optionsOf(toolkit)
  if (source === undefined) return options
  return { ...options, source: closed ? (source.split(/[\\/]/).at(-1) ?? source) : source }
}

/** Reasons that turn off a single tool. */
const SWITCHES = new Set<Reason['kind']>(['activation', 'filter', 'transform'])

function switchedOff({ reasons = [] }: Partial<LoadoutEntry>, { tier, isOverridden }: SwitchedOff): Reason[] {
  const switches = reasons.filter(({ kind, speaks }) => speaks === 'against' && SWITCHES.has(kind))
  return isOverridden ? [offInToolkit(tier), ...switches] : switches
}

interface SwitchedOff {
  tier: Tier
  isOverridden: boolean
}

function viewTool(
  { toolkit, tier }: StoredToolkit,
  { manifest, pin, changed, minorChange, blocked }: CatalogTool,
  entry: LoadoutEntry | undefined,
): ToolView {
  const override = Object.hasOwn(toolkit.overrides, manifest.name) ? toolkit.overrides[manifest.name] : undefined
  const off = switchedOff(entry ?? {}, { tier, isOverridden: override?.enabled === false })
  return {
    ...manifest,
    ref: `${toolkit.id}.${manifest.name}`,
    modelName: entry?.modelName ?? toolModelName(toolkit.id, override?.name ?? manifest.name),
    enabled: off.length === 0 && !blocked,
    pin,
    ...(changed === undefined ? {} : { changed }),
    ...(minorChange === undefined ? {} : { minorChange }),
    ...(blocked ? { held: UNACCEPTED.detail } : {}),
    ...(off.length > 0 ? { off } : {}),
  }
}

/** Tools that only need acceptance. */
const unacceptedOf = (entries: readonly LoadoutEntry[]) =>
  entries.filter(({ reasons }) => reasons.includes(UNACCEPTED)).map(({ tool }) => tool)

interface Live {
  live: ToolkitState | undefined
  closed: boolean
  unaccepted: readonly string[]
}

/** State by priority: disabled, input needed, changed, live connection, last failure, unaccepted tools. */
function stateOf(
  { enabled, lastFailure, row }: StoredToolkit,
  tools: readonly CatalogTool[],
  { live, closed, unaccepted }: Live,
): ToolkitState {
  if (!enabled) return { status: 'disabled' }
  // Input requests expire, so they come first.
  if (live?.status === 'input-needed') return live
  const changed = tools.filter((tool) => tool.changed !== undefined).map((tool) => tool.manifest.name)
  if (changed.length > 0) return toAccept('Changed since accepted', changed, 'Review the change and accept it.')
  // A connection does not help if its tools cannot be listed.
  const hasLiveState = live && live.status !== 'disconnected' && !(lastFailure && live.status === 'connected')
  // Only operators may read error output of app servers.
  const open = live && closed ? redactState(live) : live
  const failed = lastFailure && failedState(lastFailure, closed)
  // Keep the last error visible during a retry.
  if (hasLiveState && live.status === 'connecting' && failed?.status === 'error')
    return { ...open, code: failed.code, reason: failed.reason, action: failed.action, status: 'connecting' }
  if (hasLiveState && live.status !== 'connected') return open ?? live
  // A cancelled start is not a failure of the server.
  if (live?.status === 'disconnected' && live.code === 'cancelled') return live
  if (failed) return failed
  if (unaccepted.length > 0)
    return toAccept(
      'Off until accepted, because the server is not trusted',
      unaccepted,
      'Look at them and accept them.',
    )
  const state: ToolkitState = hasLiveState ? live : { status: 'disconnected' }
  return tools.length === 0 ? { ...state, ...noTools(row) } : state
}

/** A server whose tools are all invalid looks connected, so the state needs a reason. */
function noTools({ introspectionStatus, introspectionReason }: StoredToolkit['row']) {
  const [first = ''] = introspectionStatus === 'success' ? (introspectionReason ?? '').split('\n') : []
  return isNoneUsable(first) ? { reason: first, action: 'Read why in the skipped tools of the server.' } : {}
}

function failedState({ code, reason, action }: LastFailure, closed: boolean): ToolkitState {
  if (code === 'sign-in-needed') return { status: code, reason, action }
  const failed = { status: 'error' as const, code, reason, action }
  return closed ? redactState(failed) : failed
}

const MAX_NAMES = 20

function toAccept(what: string, names: readonly string[], action: string): ToolkitState {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return { status: 'changed', reason: `${what}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`, action }
}
