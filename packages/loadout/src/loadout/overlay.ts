/**
 * Computes which tools a scope has and why: app ⊕ user ⊕ thread; `narrow.ts` adds ⊕ call. Pure. Property tests verify
 * with random inputs:
 *
 * - Every tool of every toolkit is in the result once, included or not, with all deciding reasons.
 * - Off is a tombstone: no lower tier can turn it on, unless the policy permits it (`mayWiden`).
 * - The result keeps the order of toolkits and tools; the order of layers does not matter.
 * - A toolkit of a lower tier hides one with the same ID above it, and the hidden one has a reason for it.
 * - A call only narrows: it never includes a tool that is not included without it.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import { TIERS, type Tier } from '../schema/scope.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { compileLayer, type Layer, type LayerVerdict, type ToolkitVerdicts } from './layers.ts'
import { LimitCounter, type ToolkitLimit } from './limit-counter.ts'
import { nameApart } from './model-name.ts'

/** A tool of a toolkit, before activation. */
export type Candidate = Omit<LoadoutEntry, 'included' | 'reasons'> & {
  /** Reason why the tool is blocked: inactive, changed, filtered or turned off. */
  blockedBy?: Reason
  /** Additional reason for an included tool. */
  note?: Reason
}

/** A toolkit with its candidates. */
export interface OfferedToolkit {
  id: string
  tier: Tier
  uscoId?: string | undefined
  /** Tier that turned the toolkit off. */
  offAt?: Tier | undefined
  candidates: readonly Candidate[]
  /** Source of the candidates, for the policy. */
  from?: { stored: StoredToolkit; tools: readonly CatalogTool[] } | undefined
}

export interface OverlayInput {
  toolkits: readonly OfferedToolkit[]
  layers: readonly Layer[]
  limits?: { toolkits?: ToolkitLimit | undefined; tools?: ToolkitLimit | undefined; tokens?: ToolkitLimit | undefined }
  /** `uscoId`s of the toolkits that a cap keeps first, best first. @default the given order */
  preferred?: readonly string[] | undefined
  /** Whether the policy lets a lower tier turn on what a higher one turned off. @default never */
  mayWiden?: (ref: string, change: { off: Tier; on: Tier }) => boolean
}

export interface LoadoutToolkit {
  id: string
  tier: Tier
  uscoId?: string | undefined
  /** Whether the toolkit is visible, enabled and within the limit. */
  active: boolean
  /** Number of included tools. */
  toolCount: number
  reasons: Reason[]
  /** Why an active toolkit has no tools. */
  unavailable?: { code: string; reason: string } | undefined
  /** Warning of an active toolkit whose server lists more tools than its catalog keeps. */
  cut?: string | undefined
}

export interface Loadout {
  /** Included tools. */
  tools: LoadoutEntry[]
  /** All tools, included or not. */
  entries: LoadoutEntry[]
  toolkits: LoadoutToolkit[]
  /** IDs of toolkits dropped by the limit. */
  droppedToolkits: string[]
  /** Approximate tokens of the included tools. */
  tokens: number
}

type MayWiden = NonNullable<OverlayInput['mayWiden']>
const never: MayWiden = () => false

export function overlay({ toolkits, layers, limits = {}, preferred = [], mayWiden = never }: OverlayInput): Loadout {
  const ordered = [...layers].sort((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier))
  const compiled = ordered.map(compileLayer)
  const offers = withoutHidden(toolkits)
  // Renamed tools come last, so that they cannot take the name of another tool.
  const renamed = nameApart([...visible(offers, false), ...visible(offers, true)])
  const judged = offers.map((offer) => judge(offer, { compiled, mayWiden }))
  const dropped = overLimit(judged, limits.toolkits, preferred)
  const entries: LoadoutEntry[] = []
  const summaries: LoadoutToolkit[] = []
  const counter = new LimitCounter(limits.tools, limits.tokens)
  for (const item of judged) {
    const over = dropped.has(item) ? limits.toolkits : undefined
    const before = counter.tools.length
    for (const candidate of item.toolkit.candidates) {
      const entry = entryOf(item, candidate, over)
      const name = renamed.get(candidate)
      entries.push(counter.add(name === undefined ? entry : { ...entry, modelName: name }))
    }
    summaries.push(summaryOf(item, { over, toolCount: counter.tools.length - before }))
  }
  const droppedToolkits = [...dropped].map(({ toolkit }) => toolkit.id)
  return { tools: counter.tools, entries, toolkits: summaries, droppedToolkits, tokens: counter.tokens }
}

interface Offer {
  toolkit: OfferedToolkit
  /** The tier of the toolkit that hides this one. */
  hiddenBy: Tier | undefined
}

interface Weighed {
  included: boolean
  reasons: Reason[]
}

/** A toolkit with the verdicts of all tiers. */
interface Judged extends Offer {
  verdicts: readonly ToolkitVerdicts[]
  mayWiden: MayWiden
  /** Result for tools that no tier names. */
  shared: Weighed
  /** Cached results for tools that a tier names, by their verdicts; undefined if none does. */
  weighed: Array<{ toolVerdicts: ReadonlyArray<LayerVerdict | undefined>; result: Weighed }> | undefined
  active: boolean
  /** Whether a tier names the toolkit. */
  isNamed: boolean
}

function withoutHidden(toolkits: readonly OfferedToolkit[]): Offer[] {
  const lowest = new Map<string, OfferedToolkit>()
  for (const toolkit of toolkits) {
    const current = lowest.get(toolkit.id)
    if (!current || TIERS.indexOf(toolkit.tier) > TIERS.indexOf(current.tier)) lowest.set(toolkit.id, toolkit)
  }
  return toolkits.map((toolkit) => {
    const winner = lowest.get(toolkit.id)
    return { toolkit, hiddenBy: winner === toolkit ? undefined : winner?.tier }
  })
}

const isRenamed = ({ tool, manifest }: Candidate) => tool !== manifest.name

/** In naming order: app tools keep their names, whatever a user or call adds. */
function* visible(offers: readonly Offer[], renamed: boolean): Generator<Candidate> {
  for (const tier of TIERS)
    for (const { toolkit, hiddenBy } of offers)
      if (toolkit.tier === tier && hiddenBy === undefined)
        for (const candidate of toolkit.candidates) if (isRenamed(candidate) === renamed) yield candidate
}

function judge(
  offer: Offer,
  { compiled, mayWiden }: { compiled: ReadonlyArray<(toolkit: string) => ToolkitVerdicts>; mayWiden: MayWiden },
): Judged {
  const { toolkit, hiddenBy } = offer
  const verdicts = compiled.map((verdictsOf) => verdictsOf(toolkit.id))
  const from: Reason = {
    kind: 'tier',
    speaks: 'for',
    tier: toolkit.tier,
    detail: `The toolkit belongs to the ${toolkit.tier} tier.`,
  }
  const off: Reason[] = []
  if (hiddenBy)
    off.push({
      kind: 'shadowed',
      speaks: 'against',
      tier: hiddenBy,
      detail: `A toolkit of the same id at the ${hiddenBy} tier hides it.`,
    })
  if (toolkit.offAt)
    off.push({
      kind: 'disabled',
      speaks: 'against',
      tier: toolkit.offAt,
      detail: `The toolkit is switched off at the ${toolkit.offAt} tier.`,
    })
  const own = { from, off, toolkit, mayWiden }
  const shared = weigh(
    toolkit.id,
    verdicts.map(({ whole }) => whole),
    own,
  )
  const judged: Judged = {
    ...offer,
    verdicts,
    mayWiden,
    shared,
    // `mayWiden` may apply to single tools.
    weighed: mayWiden === never && verdicts.every((tier) => tier.ofTool === undefined) ? undefined : [],
    active: off.length === 0 && shared.included,
    isNamed: verdicts.some(({ whole, someOn }) => someOn || (whole?.on && whole.ref === toolkit.id)),
  }
  // A toolkit that is off may have tools that are on by name.
  const some = () => toolkit.candidates.some((candidate) => ofTool(judged, candidate).included)
  return judged.weighed && off.length === 0 ? { ...judged, active: toolkit.candidates.length === 0 || some() } : judged
}

interface Weighing {
  from: Reason
  off: readonly Reason[]
  toolkit: OfferedToolkit
  mayWiden: MayWiden
}

/**
 * Combines verdicts from the highest to the lowest tier: one off suffices, and only the policy lets a lower tier undo
 * it.
 */
function weigh(
  ref: string,
  verdicts: ReadonlyArray<LayerVerdict | undefined>,
  { from, off, toolkit, mayWiden }: Weighing,
): Weighed {
  const reasons = [from, ...off]
  let offAt: Tier | undefined
  for (const verdict of verdicts) {
    if (verdict === undefined) continue
    // An exclusive list applies only to stored toolkits, not to inline ones.
    if (verdict.unlisted && toolkit.tier === 'call') continue
    reasons.push(verdict.reason)
    if (!verdict.on) offAt ??= verdict.tier
    else if (offAt !== undefined && mayWiden(ref, { off: offAt, on: verdict.tier })) offAt = undefined
  }
  return { included: off.length === 0 && offAt === undefined, reasons }
}

function entryOf(judged: Judged, candidate: Candidate, over: ToolkitLimit | undefined): LoadoutEntry {
  const { included, reasons } = ofTool(judged, candidate)
  const isOver = over !== undefined && included
  if (candidate.blockedBy === undefined && candidate.note === undefined && !isOver)
    return { ...candidate, included, reasons }
  const { blockedBy, note, ...offered } = candidate
  const more: Reason[] = []
  if (blockedBy) more.push(blockedBy)
  if (isOver) more.push(tooManyToolkits(over))
  const isIncluded = included && more.length === 0
  if (isIncluded && note) more.push(note)
  return { ...offered, included: isIncluded, reasons: [...reasons, ...more] }
}

/** Computes each combination of verdicts once, because most tools of a toolkit share one. */
function ofTool({ verdicts, shared, toolkit, mayWiden, weighed }: Judged, { ref, tool }: Candidate): Weighed {
  if (weighed === undefined) return shared
  const toolVerdicts = verdicts.map(({ whole, ofTool: verdictOf }) => (verdictOf ? verdictOf(tool) : whole))
  const cached = weighed.find((kind) => kind.toolVerdicts.every((verdict, index) => verdict === toolVerdicts[index]))
  if (cached && mayWiden === never) return cached.result
  const [from, ...rest] = shared.reasons
  const off = rest.filter((reason) => reason.kind !== 'activation')
  const result = weigh(ref, toolVerdicts, { from: from as Reason, off, toolkit, mayWiden })
  weighed.push({ toolVerdicts, result })
  return result
}

/**
 * Toolkits over the limit. Named toolkits rank first, then preferred ones, then input order. Toolkits without a usable
 * tool and inline toolkits do not count.
 */
function overLimit(
  judged: readonly Judged[],
  limit: ToolkitLimit | undefined,
  preferred: readonly string[],
): ReadonlySet<Judged> {
  if (limit === undefined) return new Set()
  const counted = judged.filter((item) => item.active && item.toolkit.tier !== 'call' && hasUsableTool(item))
  if (counted.length <= limit.value) return new Set()
  const ranks = new Map(preferred.map((uscoId, rank) => [uscoId, rank]))
  const rankOf = ({ isNamed, toolkit }: Judged) =>
    isNamed ? -1 : (ranks.get(toolkit.uscoId ?? toolkit.id) ?? preferred.length)
  const remaining = new Set(counted.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, limit.value))
  return new Set(counted.filter((item) => !remaining.has(item)))
}

const hasUsableTool = (item: Judged) =>
  item.toolkit.candidates.some((candidate) => candidate.blockedBy === undefined && ofTool(item, candidate).included)

const tooManyToolkits = ({ name, value, tier }: ToolkitLimit): Reason => ({
  kind: 'limit',
  speaks: 'against',
  tier,
  detail: `${name} is ${value}, and other toolkits come first.`,
})

function summaryOf(
  { toolkit, shared, active }: Judged,
  { over, toolCount }: { over: ToolkitLimit | undefined; toolCount: number },
): LoadoutToolkit {
  const { id, tier, uscoId } = toolkit
  return {
    id,
    tier,
    ...(uscoId === undefined ? {} : { uscoId }),
    active: active && over === undefined,
    toolCount,
    reasons: over && active ? [...shared.reasons, tooManyToolkits(over)] : shared.reasons,
  }
}
