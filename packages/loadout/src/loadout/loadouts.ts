/**
 * Resolves loadouts of users and threads from stored data. The candidates of a toolkit are computed once for all users
 * and cached as long as its tools are.
 */
import type { Catalog, CatalogTool } from '../catalog/catalog.ts'
import { cutWarning } from '../catalog/read-manifests.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import type { ToolTransformer } from '../schema/toolkit/tool.ts'
import type { PreferenceStore } from '../threads/preferences.ts'
import type { Threads } from '../threads/threads.ts'
import type { Registry } from '../toolkits/registry.ts'
import { isUnseen, type StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { sleep } from '../util/abort.ts'
import type { Activations } from './activations.ts'
import { candidatesOf } from './candidates.ts'
import type { Layer } from './layers.ts'
import type { ToolkitLimit } from './limit-counter.ts'
import { mayBeOf } from './model-name.ts'
import { type Narrowing, narrow } from './narrow.ts'
import {
  type Candidate,
  type Loadout,
  type LoadoutToolkit,
  type OfferedToolkit,
  type OverlayInput,
  overlay,
} from './overlay.ts'
import { applyDenials, type PolicyPreview, type ToolDenials } from './policy-filter.ts'
import { transformTool } from './transform/transform.ts'

/** A user, or a thread of a user. */
export interface LoadoutScope {
  userId: string
  threadId?: string | undefined
}

export interface LoadoutOptions {
  /** Narrowing of this call. */
  narrow?: Narrowing | undefined
  /** Considers only these stored toolkits. */
  named?: readonly string[] | undefined
  /** Inline toolkits of the call, with their tools. */
  inlineToolkits?: readonly OfferedToolkit[] | undefined
  /** Transformers of the thread. */
  transform?: readonly ToolTransformer[] | undefined
  /** Whether new servers are introspected in the background. */
  background?: boolean | undefined
  /** Name of a tool that will be called: the first introspection of its toolkit is awaited. */
  calledTool?: string | undefined
  /** `uscoId`s of the toolkits that a cap keeps first, best first. @default the toolkits that the user used, newest first */
  preferred?: readonly string[] | undefined
  /** Whether the cap on toolkits is ignored, to rank all of them. @default false */
  uncapped?: boolean | undefined
  /** Whether each entry includes its policy decision. */
  decided?: boolean | undefined
  /** Whether to use only stored data, even if it is stale. */
  asIs?: boolean | undefined
  /** How long to wait for all servers whose tools are listed for the first time, in ms. @default a short time, if no other tools exist */
  waitMs?: number | undefined
}

export interface Loadouts {
  resolve(scope: LoadoutScope, options?: LoadoutOptions): Promise<Loadout>
  /** Reasons why a tool is not in the loadout; undefined if it is. */
  missing(scope: LoadoutScope, called: CalledTool): Promise<Reason[] | undefined>
}

/** A tool that will be called. */
export interface CalledTool {
  stored: StoredToolkit
  found: CatalogTool
  /** Loadout of the model. Limits were already applied to its tools for the prompt. */
  loadout?: Loadout | undefined
}

export interface LoadoutDeps {
  registry: Pick<Registry, 'offered' | 'transformersOf'>
  catalog: Pick<Catalog, 'tools' | 'introspect' | 'refresh' | 'isPersonal'>
  activations: Activations
  threads: Pick<Threads, 'settings'>
  preferences: Pick<PreferenceStore, 'get'>
  /** `uscoId`s of the toolkits that a user used with success, newest first. @default none */
  usedBy?: ((userId: string) => Promise<readonly string[]>) | undefined
  /** Policy preview. @default nothing is denied */
  policyPreview?: PolicyPreview | undefined
  /** Whether a lower tier may turn on what a higher one turned off. */
  mayWiden?: OverlayInput['mayWiden']
}

export function createLoadouts(deps: LoadoutDeps): Loadouts {
  return new LiveLoadouts(deps)
}

const INTROSPECT_WAIT_MS = 5000
const GRACE_MS = 300

interface IntrospectNewOptions {
  /** Whether servers may be contacted. */
  mayIntrospect: boolean
  wait: boolean
  calledTool: string | undefined
  waitMs: number | undefined
}

/** Says of each active toolkit why it has no tools or not all of them. A server that lists none has nothing to say. */
function withMissing(loadout: Loadout, offers: readonly OfferedToolkit[]): Loadout {
  const byKey = new Map(offers.map((offer) => [offer.uscoId, offer]))
  const toolkits = loadout.toolkits.map((toolkit) => {
    const offer = toolkit.active ? byKey.get(toolkit.uscoId) : undefined
    const unavailable = offer && toolkit.toolCount === 0 ? whyUnavailable(offer) : undefined
    const cut = offer?.from && cutWarning(offer.from.stored.row)
    return unavailable || cut ? { ...toolkit, unavailable, cut } : toolkit
  })
  return { ...loadout, toolkits }
}

function whyUnavailable({ candidates, from }: OfferedToolkit): LoadoutToolkit['unavailable'] {
  if (candidates.length > 0) {
    const [first] = candidates
    const isBlocked = candidates.every(({ blockedBy }) => blockedBy !== undefined)
    return isBlocked && first?.blockedBy ? { code: 'tool-not-accepted', reason: first.blockedBy.detail } : undefined
  }
  if (!from) return undefined
  const { lastFailure } = from.stored
  if (lastFailure) return { code: lastFailure.code, reason: lastFailure.reason }
  return isUnseen(from.stored)
    ? { code: 'server-starting', reason: 'Its tools are listed for the first time.' }
    : undefined
}

/** Candidates per tools and toolkit; the read cache replaces both keys on a change. */
type CandidateCache = WeakMap<readonly CatalogTool[], WeakMap<StoredToolkit, readonly Candidate[]>>

class LiveLoadouts implements Loadouts {
  readonly #deps: LoadoutDeps
  readonly #candidateCache: CandidateCache = new WeakMap()
  /** Permitted candidates per denials. */
  readonly #permittedCache = new WeakMap<object, { offered: readonly Candidate[]; candidates: readonly Candidate[] }>()
  readonly #singleCache = new WeakMap<CatalogTool, { stored: StoredToolkit; candidate: Candidate }>()

  constructor(deps: LoadoutDeps) {
    this.#deps = deps
  }

  async resolve(scope: LoadoutScope, options: LoadoutOptions = {}): Promise<Loadout> {
    const {
      narrow: narrowing = {},
      inlineToolkits = [],
      transform = [],
      background = false,
      asIs = false,
      named,
      calledTool,
      waitMs,
    } = options
    const { registry, mayWiden, policyPreview } = this.#deps
    await this.#introspectNew(scope.userId, { mayIntrospect: !asIs, wait: !background, calledTool, waitMs })
    const { visible, hidden } = await registry.offered(scope.userId)
    const offeredToolkits = [...visible, ...hidden].filter(
      (stored) => named === undefined || named.includes(stored.toolkit.id),
    )
    const stored = this.#offers(
      offeredToolkits,
      await this.#deps.catalog.tools(scope.userId, offeredToolkits, { asIs }),
    )
    const toolDenials = await policyPreview?.forScope(scope)
    const offers = [...inlineToolkits, ...stored].map((offer) => this.#permitted(offer, toolDenials))
    const explained =
      toolDenials && options.decided
        ? await Promise.all(offers.map((offer) => withReasons(offer, toolDenials)))
        : offers
    const toolkits = explained.map((toolkit) => applyTransformers(toolkit, transform))
    const layers = await this.#layers(scope, visible)
    const limits = await this.#limits(scope)
    if (options.uncapped) limits.toolkits = undefined
    const preferred = limits.toolkits && (options.preferred ?? (await this.#deps.usedBy?.(scope.userId)))
    const whole = overlay({ toolkits, layers, limits, preferred, ...(mayWiden ? { mayWiden } : {}) })
    return narrow(withMissing(whole, stored), narrowing)
  }

  async missing(scope: LoadoutScope, { stored, found, loadout }: CalledTool): Promise<Reason[] | undefined> {
    const { registry, mayWiden } = this.#deps
    const { visible } = await registry.offered(scope.userId)
    const limits = await this.#limits(scope)
    const crowded = limits.toolkits !== undefined && visible.length > limits.toolkits.value
    // Limits depend on the other tools, except for inline toolkits.
    const isInLoadout = loadout?.tools.some(
      ({ uscoId, tool }) => uscoId === stored.uscoId && tool === found.manifest.name,
    )
    if (!stored.ephemeral && !isInLoadout && (crowded || limits.tools || limits.tokens)) {
      const { entries } = await this.resolve(scope)
      const entry = entries.find((one) => one.uscoId === stored.uscoId && one.tool === found.manifest.name)
      return entry?.included ? undefined : against(entry)
    }
    const candidate = this.#candidate(stored, found)
    const layers = await this.#layers(scope, visible)
    if (layers.length === 0 && stored.enabled && !candidate.blockedBy) return undefined
    const toolkits = [{ ...toolkitOf(stored), candidates: [candidate] }]
    const [entry] = overlay({ toolkits, layers, ...(mayWiden ? { mayWiden } : {}) }).entries
    return entry?.included ? undefined : against(entry)
  }

  /**
   * Introspects new toolkits. It waits only if no other toolkit is available, and then 300 ms after the first success;
   * slower servers are available next time.
   */
  async #introspectNew(
    userId: string,
    { mayIntrospect, wait, calledTool, waitMs }: IntrospectNewOptions,
  ): Promise<void> {
    const { registry, catalog } = this.#deps
    const { visible, hidden } = await registry.offered(userId)
    const isOwn = ({ toolkit }: StoredToolkit) => toolkit.server.type === 'custom'
    const own = [...visible, ...hidden].filter((stored) => isUnseen(stored) && isOwn(stored))
    const unseen = visible.filter((stored) => isUnseen(stored) && !isOwn(stored) && stored.enabled)
    // Toolkits with a personal catalog are known for this user.
    const personal = await Promise.all(unseen.map((stored) => catalog.isPersonal(stored, userId)))
    const servers = unseen.filter((_, at) => !personal[at])
    if (own.length + servers.length === 0) return
    const introspect = (stored: StoredToolkit) => catalog.introspect(stored, userId)
    // Custom toolkits need no server.
    await Promise.allSettled(own.map(introspect))
    if (!mayIntrospect) return
    const isCalled = ({ toolkit }: StoredToolkit) => calledTool !== undefined && mayBeOf(toolkit.id, calledTool)
    const awaited = wait ? servers.filter(isCalled).map(introspect) : []
    const refreshes = servers.map((stored) => catalog.refresh(stored, userId))
    const all = Promise.allSettled(refreshes)
    if (!wait) return
    await Promise.allSettled(awaited)
    if (waitMs !== undefined) {
      await Promise.race([all, sleep(waitMs)])
      return
    }
    if (servers.length < visible.length) return
    const found = refreshes.map(async (refresh) => (await refresh) || Promise.reject(new Error('The look failed.')))
    const first = Promise.any(found).then(
      () => sleep(GRACE_MS),
      () => {},
    )
    await Promise.race([all, first, sleep(INTROSPECT_WAIT_MS)])
  }

  #offers(toolkits: readonly StoredToolkit[], tools: ReadonlyMap<string, readonly CatalogTool[]>): OfferedToolkit[] {
    return toolkits.map((stored) => this.#offer(stored, tools.get(stored.uscoId) ?? []))
  }

  #offer(stored: StoredToolkit, tools: readonly CatalogTool[]): OfferedToolkit {
    const byToolkit = this.#candidateCache.get(tools) ?? new WeakMap<StoredToolkit, readonly Candidate[]>()
    this.#candidateCache.set(tools, byToolkit)
    const transformers = this.#transformers(stored)
    let candidates = transformers.length === 0 ? byToolkit.get(stored) : undefined
    if (!candidates) {
      candidates = candidatesOf({ ...offerOf(stored), tools, transformers })
      byToolkit.set(stored, candidates)
    }
    return { ...toolkitOf(stored), candidates, from: { stored, tools } }
  }

  /** Applies denials; cached for the same tools and rules. */
  #permitted(offer: OfferedToolkit, toolDenials: ToolDenials | undefined): OfferedToolkit {
    const { candidates, from } = offer
    const denials = from && toolDenials?.denials(from.stored, from.tools)
    if (!denials) return offer
    const cached = this.#permittedCache.get(denials)
    if (cached?.offered === candidates) return { ...offer, candidates: cached.candidates }
    const permitted = applyDenials(candidates, denials)
    this.#permittedCache.set(denials, { offered: candidates, candidates: permitted })
    return { ...offer, candidates: permitted }
  }

  /** Candidate of a single tool. Cached, because every call needs it. */
  #candidate(stored: StoredToolkit, found: CatalogTool): Candidate {
    const cached = this.#singleCache.get(found)
    if (cached?.stored === stored) return cached.candidate
    const [candidate] = candidatesOf({ ...offerOf(stored), tools: [found], transformers: this.#transformers(stored) })
    const single = { stored, candidate: candidate as Candidate }
    if (this.#transformers(stored).length === 0) this.#singleCache.set(found, single)
    return single.candidate
  }

  #transformers({ uscoId }: StoredToolkit): readonly ToolTransformer[] {
    return this.#deps.registry.transformersOf(uscoId)
  }

  /** Layers of all tiers that have rules. */
  async #layers({ userId, threadId }: LoadoutScope, visible: readonly StoredToolkit[]): Promise<Layer[]> {
    const { activations } = this.#deps
    const [app, user, thread] = await Promise.all([
      activations.list({}),
      activations.list({ userId }),
      threadId === undefined ? [] : activations.list({ userId, threadId }),
    ])
    // A user's rule for an app toolkit does not apply to the user's own toolkit with the same ID.
    const own = new Set(
      user.length === 0 ? [] : visible.filter((stored) => stored.tier === 'user').map((stored) => stored.toolkit.id),
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
    const { preferences, threads } = this.#deps
    const [{ maxServersPerThread }, settings] = await Promise.all([
      preferences.get(userId),
      threads.settings(userId, threadId),
    ])
    const { maxToolkits, maxTools, maxTokens } = settings.limits
    const own = (name: string, value: number | undefined): ToolkitLimit | undefined =>
      value === undefined ? undefined : { name, value, tier: 'thread' }
    const caps: ToolkitLimit[] = [
      ...(maxToolkits === undefined ? [] : [{ name: 'maxToolkits', value: maxToolkits, tier: 'thread' as const }]),
      ...(maxServersPerThread === undefined
        ? []
        : [{ name: 'maxServersPerThread', value: maxServersPerThread, tier: 'user' as const }]),
    ]
    const toolkits = caps.toSorted((a, b) => a.value - b.value)[0]
    return { toolkits, tools: own('maxTools', maxTools), tokens: own('maxTokens', maxTokens) }
  }
}

const offerOf = ({ toolkit, tier, uscoId }: StoredToolkit) => ({ toolkit, tier, uscoId })

function toolkitOf({ toolkit, tier, uscoId, enabled }: StoredToolkit): Omit<OfferedToolkit, 'candidates'> {
  // If its owner has it enabled, the user turned it off.
  const offAt = enabled ? undefined : toolkit.enabled ? ('user' as const) : tier
  return { id: toolkit.id, tier, uscoId, offAt }
}

async function withReasons(offer: OfferedToolkit, toolDenials: ToolDenials): Promise<OfferedToolkit> {
  const { candidates, from } = offer
  if (!from) return offer
  const reasons = await toolDenials.reasons(from.stored, from.tools)
  const withNote = (candidate: Candidate, at: number): Candidate => {
    const note = candidate.blockedBy?.kind === 'policy' ? undefined : (candidate.note ?? reasons[at])
    return note === undefined ? candidate : { ...candidate, note }
  }
  return { ...offer, candidates: candidates.map(withNote) }
}

function applyTransformers(toolkit: OfferedToolkit, transformers: readonly ToolTransformer[]): OfferedToolkit {
  if (transformers.length === 0) return toolkit
  const candidates = toolkit.candidates.map((candidate) => {
    if (candidate.blockedBy) return candidate
    const { tool, blockedBy } = transformTool(candidate, transformers)
    return blockedBy ? { ...candidate, blockedBy: { ...blockedBy, tier: 'thread' as const } } : tool
  })
  return { ...toolkit, candidates }
}

/** Reasons against a tool. */
function against(entry: LoadoutEntry | undefined): Reason[] {
  return (entry?.reasons ?? []).filter((reason) => reason.speaks === 'against')
}
