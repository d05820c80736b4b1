/**
 * Loadouts of live scopes: reads what is stored (from the cache, where nothing changed) and lays it over. What a toolkit
 * offers is worked out once for all who have it and kept as long as its tools are.
 */
import type { Catalog, CatalogTool } from '../catalog/catalog.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import type { ToolTransformer } from '../schema/toolkit/tool.ts'
import type { PreferenceStore } from '../threads/preferences.ts'
import type { Threads } from '../threads/threads.ts'
import type { Registry } from '../toolkits/registry.ts'
import { isUnseen, type StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { Activations } from './activations.ts'
import { candidatesOf } from './candidates.ts'
import type { Layer } from './layers.ts'
import type { Limit } from './limit-counter.ts'
import { mayBeOf } from './model-name.ts'
import { type Narrowing, narrow } from './narrow.ts'
import { type Candidate, type Loadout, type OfferedToolkit, type OverlayInput, overlay } from './overlay.ts'
import { applyDenials, type Foresight, type ToolDenials } from './policy-filter.ts'
import { transformTool } from './transform/transform.ts'

/** Whose loadout: a user's, or that of one of their threads. */
export interface LoadoutScope {
  userId: string
  threadId?: string | undefined
}

export interface LoadoutOptions {
  /** What the call leaves away. */
  narrow?: Narrowing | undefined
  /** Of what is stored, only these count. */
  named?: readonly string[] | undefined
  /** Toolkits that the call brings, with their tools. */
  brought?: readonly OfferedToolkit[] | undefined
  /** How the thread shows its tools. */
  transform?: readonly ToolTransformer[] | undefined
  /** Whether servers that nobody looked at yet are not waited for. */
  behind?: boolean | undefined
  /** A tool that is about to be called: the first look at its toolkit is waited for, whatever else there is. */
  meant?: string | undefined
  /** `uscoId`s of the toolkits that a cap keeps first, best first. @default the toolkits that the user used, newest first */
  preferred?: readonly string[] | undefined
  /** Whether the cap on toolkits is ignored, to rank all of them. @default false */
  uncapped?: boolean | undefined
  /** Whether each tool says what would be decided about it. */
  decided?: boolean | undefined
  /** Whether no server is looked at, also where what is known of it is old. */
  asIs?: boolean | undefined
}

export interface Loadouts {
  of(scope: LoadoutScope, options?: LoadoutOptions): Promise<Loadout>
  /** Why a scope does not carry one tool of a toolkit; undefined where it does. */
  missing(scope: LoadoutScope, asked: AskedTool): Promise<Reason[] | undefined>
}

/** A tool that is about to be called. */
export interface AskedTool {
  stored: StoredToolkit
  found: CatalogTool
  /** The loadout that the model was given. A tool in it is within the limits, which were applied for the prompt. */
  given?: Loadout | undefined
}

export interface LoadoutDeps {
  registry: Pick<Registry, 'offered' | 'transformersOf'>
  catalog: Pick<Catalog, 'tools' | 'introspect' | 'refresh' | 'isPersonal'>
  activations: Activations
  threads: Pick<Threads, 'settings'>
  preferences: Pick<PreferenceStore, 'get'>
  /** `uscoId`s of the toolkits that a user used with success, newest first. @default none */
  usedBy?: ((userId: string) => Promise<readonly string[]>) | undefined
  /** What the policy denies; asked when it is there. @default nothing */
  foresight?: Foresight | undefined
  /** The policy's word on whether a lower tier may undo what a higher one switched off. */
  mayWiden?: OverlayInput['mayWiden']
}

export function createLoadouts(parts: LoadoutDeps): Loadouts {
  return new LiveLoadouts(parts)
}

const FIRST_LOOK_MS = 5000
const GRACE_MS = 300

interface FirstLooks {
  /** Whether servers may be asked. */
  look: boolean
  wait: boolean
  meant: string | undefined
}

/** What was worked out of a toolkit's tools; both keys are replaced by the cache when anything changes. */
type Kept = WeakMap<readonly CatalogTool[], WeakMap<StoredToolkit, readonly Candidate[]>>

class LiveLoadouts implements Loadouts {
  readonly #parts: LoadoutDeps
  readonly #kept: Kept = new WeakMap()
  /** What is left of what a toolkit offers, by what is denied of it. */
  readonly #left = new WeakMap<object, { offered: readonly Candidate[]; candidates: readonly Candidate[] }>()
  readonly #single = new WeakMap<CatalogTool, { stored: StoredToolkit; candidate: Candidate }>()

  constructor(parts: LoadoutDeps) {
    this.#parts = parts
  }

  async of(scope: LoadoutScope, options: LoadoutOptions = {}): Promise<Loadout> {
    const { narrow: narrowing = {}, brought = [], transform = [], behind = false, asIs = false, named, meant } = options
    const { registry, mayWiden, foresight } = this.#parts
    await this.#firstLooks(scope.userId, { look: !asIs, wait: !behind, meant })
    const { visible, hidden } = await registry.offered(scope.userId)
    const all = [...visible, ...hidden].filter((one) => named === undefined || named.includes(one.toolkit.id))
    const stored = this.#offers(all, await this.#parts.catalog.tools(scope.userId, all, { asIs }))
    const foreseen = await foresight?.of(scope)
    const offers = [...brought, ...stored].map((offer) => this.#permitted(offer, foreseen))
    const told =
      foreseen && options.decided ? await Promise.all(offers.map((offer) => withTold(offer, foreseen))) : offers
    const toolkits = told.map((toolkit) => shownBy(toolkit, transform))
    const layers = await this.#layers(scope, visible)
    const limits = await this.#limits(scope)
    if (options.uncapped) limits.toolkits = undefined
    const preferred = limits.toolkits && (options.preferred ?? (await this.#parts.usedBy?.(scope.userId)))
    return narrow(overlay({ toolkits, layers, limits, preferred, ...(mayWiden ? { mayWiden } : {}) }), narrowing)
  }

  async missing(scope: LoadoutScope, { stored, found, given }: AskedTool): Promise<Reason[] | undefined> {
    const { registry, mayWiden } = this.#parts
    const { visible } = await registry.offered(scope.userId)
    const limits = await this.#limits(scope)
    const crowded = limits.toolkits !== undefined && visible.length > limits.toolkits.value
    // Only where there are too many does it matter what else there is; what a call brings is not among them.
    const isGiven = given?.tools.some(({ uscoId, tool }) => uscoId === stored.uscoId && tool === found.manifest.name)
    if (!stored.ephemeral && !isGiven && (crowded || limits.tools || limits.tokens)) {
      const { entries } = await this.of(scope)
      const entry = entries.find((one) => one.uscoId === stored.uscoId && one.tool === found.manifest.name)
      return entry?.included ? undefined : against(entry)
    }
    const candidate = this.#candidate(stored, found)
    const layers = await this.#layers(scope, visible)
    if (layers.length === 0 && stored.enabled && !candidate.held) return undefined
    const toolkits = [{ ...toolkitOf(stored), candidates: [candidate] }]
    const [entry] = overlay({ toolkits, layers, ...(mayWiden ? { mayWiden } : {}) }).entries
    return entry?.included ? undefined : against(entry)
  }

  /**
   * A toolkit that nobody looked at yet is looked at now. It is waited for only where there is nothing else to give, and
   * not much longer than for the first that answers: who takes longer is there next time.
   */
  async #firstLooks(userId: string, { look: mayLook, wait, meant }: FirstLooks): Promise<void> {
    const { registry, catalog } = this.#parts
    const { visible, hidden } = await registry.offered(userId)
    const isOwn = ({ toolkit }: StoredToolkit) => toolkit.server.type === 'custom'
    const own = [...visible, ...hidden].filter((stored) => isUnseen(stored) && isOwn(stored))
    const unseen = visible.filter((stored) => isUnseen(stored) && !isOwn(stored) && stored.enabled)
    // What a user signed in to is known for them alone.
    const personal = await Promise.all(unseen.map((stored) => catalog.isPersonal(stored, userId)))
    const servers = unseen.filter((_, at) => !personal[at])
    if (own.length + servers.length === 0) return
    const look = (stored: StoredToolkit) => catalog.introspect(stored, userId)
    // What needs no server is there at once.
    await Promise.allSettled(own.map(look))
    if (!mayLook) return
    const isMeant = ({ toolkit }: StoredToolkit) => meant !== undefined && mayBeOf(toolkit.id, meant)
    const awaited = wait ? servers.filter(isMeant).map(look) : []
    const looks = servers.map((stored) => catalog.refresh(stored, userId))
    const all = Promise.allSettled(looks)
    if (!wait) return
    await Promise.allSettled(awaited)
    if (servers.length < visible.length) return
    const found = looks.map(async (look) => (await look) || Promise.reject(new Error('The look failed.')))
    const first = Promise.any(found).then(
      () => pause(GRACE_MS),
      () => {},
    )
    await Promise.race([all, first, pause(FIRST_LOOK_MS)])
  }

  #offers(toolkits: readonly StoredToolkit[], tools: ReadonlyMap<string, readonly CatalogTool[]>): OfferedToolkit[] {
    return toolkits.map((one) => this.#offer(one, tools.get(one.uscoId) ?? []))
  }

  #offer(stored: StoredToolkit, tools: readonly CatalogTool[]): OfferedToolkit {
    const byToolkit = this.#kept.get(tools) ?? new WeakMap<StoredToolkit, readonly Candidate[]>()
    this.#kept.set(tools, byToolkit)
    const transformers = this.#transformers(stored)
    let candidates = transformers.length === 0 ? byToolkit.get(stored) : undefined
    if (!candidates) {
      candidates = candidatesOf({ ...offerOf(stored), tools, transformers })
      byToolkit.set(stored, candidates)
    }
    return { ...toolkitOf(stored), candidates, from: { stored, tools } }
  }

  /** Worked out once for the same tools under the same rules. */
  #permitted(offer: OfferedToolkit, foreseen: ToolDenials | undefined): OfferedToolkit {
    const { candidates, from } = offer
    const denials = from && foreseen?.denials(from.stored, from.tools)
    if (!denials) return offer
    const known = this.#left.get(denials)
    if (known?.offered === candidates) return { ...offer, candidates: known.candidates }
    const left = applyDenials(candidates, denials)
    this.#left.set(denials, { offered: candidates, candidates: left })
    return { ...offer, candidates: left }
  }

  /** One tool by itself: on the way of every call. */
  #candidate(stored: StoredToolkit, found: CatalogTool): Candidate {
    const known = this.#single.get(found)
    if (known?.stored === stored) return known.candidate
    const [candidate] = candidatesOf({ ...offerOf(stored), tools: [found], transformers: this.#transformers(stored) })
    const single = { stored, candidate: candidate as Candidate }
    if (this.#transformers(stored).length === 0) this.#single.set(found, single)
    return single.candidate
  }

  #transformers({ uscoId }: StoredToolkit): readonly ToolTransformer[] {
    return this.#parts.registry.transformersOf(uscoId)
  }

  /** Tiers that say nothing are left out. */
  async #layers({ userId, threadId }: LoadoutScope, visible: readonly StoredToolkit[]): Promise<Layer[]> {
    const { activations } = this.#parts
    const [app, user, thread] = await Promise.all([
      activations.list({}),
      activations.list({ userId }),
      threadId === undefined ? [] : activations.list({ userId, threadId }),
    ])
    // A user's switch for a toolkit of the app is not one for their own of the same id: that has a switch itself.
    const own = new Set(
      user.length === 0 ? [] : visible.filter((one) => one.tier === 'user').map((one) => one.toolkit.id),
    )
    const layers: Layer[] = [
      { tier: 'app', rules: app },
      { tier: 'user', rules: own.size === 0 ? user : user.filter((rule) => !own.has(rule.ref)) },
      { tier: 'thread', rules: thread },
    ]
    return layers.filter((layer) => layer.rules.length > 0)
  }

  async #limits({ userId, threadId }: LoadoutScope): Promise<NonNullable<OverlayInput['limits']>> {
    if (threadId === undefined) return {}
    const { preferences, threads } = this.#parts
    const [{ maxServersPerThread }, settings] = await Promise.all([
      preferences.get(userId),
      threads.settings(userId, threadId),
    ])
    const { maxToolkits, maxTools, maxTokens } = settings.limits
    const own = (name: string, value: number | undefined): Limit | undefined =>
      value === undefined ? undefined : { name, value, tier: 'thread' }
    const caps: Limit[] = [
      ...(maxToolkits === undefined ? [] : [{ name: 'maxToolkits', value: maxToolkits, tier: 'thread' as const }]),
      ...(maxServersPerThread === undefined
        ? []
        : [{ name: 'maxServersPerThread', value: maxServersPerThread, tier: 'user' as const }]),
    ]
    const toolkits = caps.toSorted((a, b) => a.value - b.value)[0]
    return { toolkits, tools: own('maxTools', maxTools), tokens: own('maxTokens', maxTokens) }
  }
}

/** Keeps nobody's process alive. */
const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    const timer: { unref?: () => void } | number = setTimeout(resolve, ms)
    if (typeof timer === 'object') timer.unref?.()
  })

const offerOf = ({ toolkit, tier, uscoId }: StoredToolkit) => ({ toolkit, tier, uscoId })

function toolkitOf({ toolkit, tier, uscoId, enabled }: StoredToolkit): Omit<OfferedToolkit, 'candidates'> {
  // What its owner did not switch off, the user did.
  const offAt = enabled ? undefined : toolkit.enabled ? ('user' as const) : tier
  return { id: toolkit.id, tier, uscoId, offAt }
}

async function withTold(offer: OfferedToolkit, foreseen: ToolDenials): Promise<OfferedToolkit> {
  const { candidates, from } = offer
  if (!from) return offer
  const reasons = await foreseen.told(from.stored, from.tools)
  const tell = (candidate: Candidate, at: number): Candidate => {
    const beside = candidate.held?.kind === 'policy' ? undefined : (candidate.beside ?? reasons[at])
    return beside === undefined ? candidate : { ...candidate, beside }
  }
  return { ...offer, candidates: candidates.map(tell) }
}

function shownBy(toolkit: OfferedToolkit, transformers: readonly ToolTransformer[]): OfferedToolkit {
  if (transformers.length === 0) return toolkit
  const candidates = toolkit.candidates.map((candidate) => {
    if (candidate.held) return candidate
    const { tool, held } = transformTool(candidate, transformers)
    return held ? { ...candidate, held: { ...held, tier: 'thread' as const } } : tool
  })
  return { ...toolkit, candidates }
}

/** The reasons that keep a tool back. */
function against(entry: LoadoutEntry | undefined): Reason[] {
  return (entry?.reasons ?? []).filter((reason) => reason.speaks === 'against')
}
