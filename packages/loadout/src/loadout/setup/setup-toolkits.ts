/**
 * Sets up the tools of one invocation: resolves names, introspects toolkits and computes the loadout. A failed toolkit
 * is reported with its reason while the others work; an unknown name is reported with the available names. Nothing is
 * stored.
 */
import type { Context } from '@opentelemetry/api'
import type { Catalog } from '../../catalog/catalog.ts'
import { HostError } from '../../errors.ts'
import type { StoredToolkit } from '../../toolkits/stored-toolkit.ts'
import { candidatesOf } from '../candidates.ts'
import type { Loadouts } from '../loadouts.ts'
import { type Narrowing, narrow } from '../narrow.ts'
import type { Loadout, OfferedToolkit } from '../overlay.ts'
import { type FindToolkitDeps, type FindToolkitOptions, type ResolvedToolkit, ToolkitFinder } from './find-toolkits.ts'

export interface SetupOptions extends FindToolkitOptions {
  narrow?: Narrowing | undefined
  /** Parent trace. @default the active trace */
  trace?: Context | undefined
}

/** Resolution of a name. */
export interface Resolution {
  name: string
  toolkit: string
  /** `context`, `transport`, `stored`, or the file. */
  from: string
  tools: string[]
}

export interface FailedToolkit {
  id: string
  code: HostError['code']
  reason: string
  action: string
}

export interface Setup {
  loadout: Loadout
  requested: string[]
  /** Available names. */
  available: string[]
  /** Requested names that nothing provides. */
  missing: string[]
  resolved: Resolution[]
  failedToolkits: FailedToolkit[]
  droppedToolkits: string[]
  warnings: string[]
  /** Inline toolkits by ID. */
  inlineToolkits: ReadonlyMap<string, StoredToolkit>
}

export interface SetupDeps extends FindToolkitDeps {
  catalog: Pick<Catalog, 'tools' | 'introspect'>
  loadouts: Pick<Loadouts, 'resolve'>
}

/** Maximum number of toolkits per invocation. */
export const MAX_TOOLKITS = 16
export const tooMany = (left: readonly string[]) =>
  `At most ${MAX_TOOLKITS} toolkits serve one invocation. Left out: ${left.join(', ')}.`

interface Started {
  found: ResolvedToolkit
  offered?: OfferedToolkit
  error?: HostError
}

/** `names` are the requested toolkits. @default all inline toolkits of the context */
export async function setupToolkits(
  deps: SetupDeps,
  names: readonly string[] | undefined,
  options: SetupOptions,
): Promise<Setup> {
  if (options.context.signal?.aborted) throw new HostError('cancelled')
  const finder = new ToolkitFinder(deps, options)
  const requested = [...new Set(names ?? finder.inlineNames())]
  const selected = requested.slice(0, MAX_TOOLKITS)
  const droppedToolkits = requested.slice(MAX_TOOLKITS)
  const found = (await Promise.all(selected.map((name) => finder.find(name)))).filter(
    (toolkit) => toolkit !== undefined,
  )
  const missing = selected.filter((name) => !found.some((toolkit) => toolkit.name === name))
  const available = await finder.available(missing.length > 0)
  const { principal, scope } = options.context
  const started = await Promise.all(
    found.map((toolkit) => start(deps, toolkit, { userId: principal.userId, trace: options.trace })),
  )
  const serving = started.filter((one) => one.error === undefined)
  // Only named toolkits count against the limits of the thread.
  const named = serving.map(({ found: { stored } }) => stored?.toolkit.id as string)
  const whole = await deps.loadouts.resolve(
    { userId: principal.userId, threadId: scope.threadId },
    { named, inlineToolkits: serving.flatMap(({ offered }) => offered ?? []) },
  )
  const loadout = narrow(whole, options.narrow ?? {})
  const warnings = [...finder.warnings]
  if (droppedToolkits.length > 0) warnings.push(tooMany(droppedToolkits))
  if (missing.length > 0)
    warnings.push(`Requested: ${missing.join(', ')}. Available: ${available.join(', ') || 'nothing'}.`)
  return {
    loadout,
    requested,
    available,
    missing,
    resolved: serving.map(({ found: one }) => resolutionOf(one, loadout)),
    failedToolkits: [
      ...started.flatMap(({ found: { name }, error }) => (error ? [failureOf(name, error)] : [])),
      ...emptyToolkits(whole),
    ],
    droppedToolkits,
    warnings,
    inlineToolkits: new Map(
      serving.flatMap(({ found: { stored } }) => (stored?.ephemeral ? [[stored.toolkit.id, stored] as const] : [])),
    ),
  }
}

/** Introspects the toolkit if its tools are unknown. */
async function start(
  deps: SetupDeps,
  found: ResolvedToolkit,
  { userId, trace }: { userId: string; trace: Context | undefined },
): Promise<Started> {
  const { stored, error } = found
  if (!stored) return { found, error: error ?? new HostError('internal') }
  if (!stored.enabled)
    return {
      found,
      error: new HostError('not-carried', { detail: 'It is switched off.', action: 'Switch it on first.' }),
    }
  const listTools = async () => (await deps.catalog.tools(userId, [stored])).get(stored.uscoId) ?? []
  try {
    if ((await listTools()).length === 0) await deps.catalog.introspect(stored, userId, trace)
    if (!stored.ephemeral) return { found }
    const { toolkit, tier, uscoId } = stored
    const tools = await listTools()
    const candidates = candidatesOf({ toolkit, tier, uscoId, tools })
    return { found, offered: { id: toolkit.id, tier, uscoId, candidates, from: { stored, tools } } }
  } catch (thrown) {
    return { found, error: HostError.from(thrown) }
  }
}

const MAX_REASONS = 10

/** Toolkits without an available tool, with the reasons. */
function emptyToolkits({ toolkits, entries }: Loadout): FailedToolkit[] {
  return toolkits
    .filter(
      ({ id, tier, toolCount }) => toolCount === 0 && entries.some((one) => one.toolkit === id && one.tier === tier),
    )
    .map(({ id, tier, reasons }) => {
      const denied = entries.filter((one) => one.toolkit === id && one.tier === tier).flatMap((one) => one.reasons)
      const all = [...reasons, ...denied.filter(({ kind }) => kind === 'policy')]
      const why = all.filter((reason) => reason.speaks === 'against').map((reason) => reason.detail)
      const detail = `None of its tools is carried. ${[...new Set(why)].slice(0, MAX_REASONS).join(' ')}`.trim()
      return failureOf(id, new HostError('not-carried', { detail }))
    })
}

function resolutionOf({ name, from, stored }: ResolvedToolkit, loadout: Loadout): Resolution {
  const toolkit = stored?.toolkit.id ?? name
  return {
    name,
    toolkit,
    from,
    tools: loadout.tools.filter((tool) => tool.toolkit === toolkit).map((tool) => tool.tool),
  }
}

const failureOf = (id: string, { code, message: reason, action }: HostError): FailedToolkit => ({
  id,
  code,
  reason,
  action,
})
