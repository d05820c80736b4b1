/**
 * Which tools a scope carries, and why: app ⊕ user ⊕ thread, and `narrow.ts` for ⊕ call. Pure: plain records in, plain
 * records out, nothing is read, kept or changed. What holds of it, and is tested with thousands of random cases:
 *
 * - Every tool of every toolkit is in the result once, carried or not, with all reasons that decided.
 * - Off is a tombstone: what a tier switches off, no lower tier switches on (unless `mayWiden`, the policy, says so).
 * - The order of the toolkits and of their tools is the order of the result; the order of the layers does not matter.
 * - A toolkit of a lower tier hides one of the same id above it, and the hidden one says so.
 * - A call only narrows: with it, nothing is carried that was not carried without it.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import { TIERS, type Tier } from '../schema/scope.ts'
import type { LoadoutEntry, Reason } from '../schema/toolkit/loadout-entry.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { compileLayer, type Layer, type ToolkitVerdicts, type Verdict } from './layers.ts'
import { Counter, type Limit } from './limit-counter.ts'
import { nameApart } from './model-name.ts'

/** A tool that a toolkit offers, before anyone chose. */
export type Candidate = Omit<LoadoutEntry, 'included' | 'reasons'> & {
  /** Why its own toolkit keeps it back: inactive, changed, filtered, switched off. */
  blockedBy?: Reason
  /** What else there is to say of it, where it is carried. */
  note?: Reason
}

/** A toolkit with what it offers. */
export interface OfferedToolkit {
  id: string
  tier: Tier
  uscoId?: string | undefined
  /** The tier that switched it off, where one did. */
  offAt?: Tier | undefined
  candidates: readonly Candidate[]
  /** What the candidates were made of, where a policy looks at it. */
  from?: { stored: StoredToolkit; tools: readonly CatalogTool[] } | undefined
}

export interface OverlayInput {
  toolkits: readonly OfferedToolkit[]
  layers: readonly Layer[]
  limits?: { toolkits?: Limit | undefined; tools?: Limit | undefined; tokens?: Limit | undefined }
  /** `uscoId`s of the toolkits that a cap keeps first, best first. @default the given order */
  preferred?: readonly string[] | undefined
  /** Whether policy lets a lower tier undo what a higher one switched off. @default never */
  mayWiden?: (ref: string, change: { off: Tier; on: Tier }) => boolean
}

export interface LoadoutToolkit {
  id: string
  tier: Tier
  uscoId?: string | undefined
  /** Whether its tools can be carried: not hidden, not switched off, within the limit. */
  active: boolean
  /** How many of its tools are carried. */
  toolCount: number
  reasons: Reason[]
}

export interface Loadout {
  /** What the scope carries. */
  tools: LoadoutEntry[]
  /** Every tool that was looked at, carried or not. */
  entries: LoadoutEntry[]
  toolkits: LoadoutToolkit[]
  /** Toolkits that were left out because there were too many. */
  droppedToolkits: string[]
  /** About what the carried tools cost in a model's context. */
  tokens: number
}

type MayWiden = NonNullable<OverlayInput['mayWiden']>
const never: MayWiden = () => false

export function overlay({ toolkits, layers, limits = {}, preferred = [], mayWiden = never }: OverlayInput): Loadout {
  const ordered = [...layers].sort((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier))
  const compiled = ordered.map(compileLayer)
  const offers = withoutHidden(toolkits)
  // A tool that took another name does not take one that is another tool's own.
  const renamed = nameApart([...visible(offers, false), ...visible(offers, true)])
  const judged = offers.map((offer) => judge(offer, { compiled, mayWiden }))
  const dropped = overLimit(judged, limits.toolkits, preferred)
  const entries: LoadoutEntry[] = []
  const summaries: LoadoutToolkit[] = []
  const counter = new Counter(limits.tools, limits.tokens)
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

/** One toolkit with what every tier says of it. */
interface Judged extends Offer {
  verdicts: readonly ToolkitVerdicts[]
  mayWiden: MayWiden
  /** What holds of all its tools that no tier names apart. */
  shared: Weighed
  /** What was found of tools that some tier names apart, by what the tiers say of them; undefined where none does. */
  weighed: Array<{ toolVerdicts: ReadonlyArray<Verdict | undefined>; result: Weighed }> | undefined
  active: boolean
  /** Whether some tier asked for it by name. */
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

/** In the order in which names are given: the app's keep theirs, whatever a user or a call adds. */
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
    // A policy that widens may speak of single tools too.
    weighed: mayWiden === never && verdicts.every((tier) => tier.ofTool === undefined) ? undefined : [],
    active: off.length === 0 && shared.included,
    isNamed: verdicts.some(({ whole, someOn }) => someOn || (whole?.on && whole.ref === toolkit.id)),
  }
  // A toolkit that is off as a whole may still have tools that are on by name.
  const some = () => toolkit.candidates.some((candidate) => ofTool(judged, candidate).included)
  return judged.weighed && off.length === 0 ? { ...judged, active: toolkit.candidates.length === 0 || some() } : judged
}

interface Weighing {
  from: Reason
  off: readonly Reason[]
  toolkit: OfferedToolkit
  mayWiden: MayWiden
}

/** All that the tiers say, from the highest to the lowest: one off is enough, and only policy lets a lower on undo it. */
function weigh(
  ref: string,
  verdicts: ReadonlyArray<Verdict | undefined>,
  { from, off, toolkit, mayWiden }: Weighing,
): Weighed {
  const reasons = [from, ...off]
  let offAt: Tier | undefined
  for (const verdict of verdicts) {
    if (verdict === undefined) continue
    // A list chooses among what is stored; what the call itself brings was not there to choose.
    if (verdict.unlisted && toolkit.tier === 'call') continue
    reasons.push(verdict.reason)
    if (!verdict.on) offAt ??= verdict.tier
    else if (offAt !== undefined && mayWiden(ref, { off: offAt, on: verdict.tier })) offAt = undefined
  }
  return { included: off.length === 0 && offAt === undefined, reasons }
}

function entryOf(judged: Judged, candidate: Candidate, over: Limit | undefined): LoadoutEntry {
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

/** A toolkit's tools fall into few kinds; each kind is weighed once. */
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
 * Toolkits that a tier names stay first, then the preferred ones, then the given order. A toolkit without a usable tool takes no
 * place, and toolkits of a call have a limit of their own.
 */
function overLimit(
  judged: readonly Judged[],
  limit: Limit | undefined,
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

const tooManyToolkits = ({ name, value, tier }: Limit): Reason => ({
  kind: 'limit',
  speaks: 'against',
  tier,
  detail: `${name} is ${value}, and other toolkits come first.`,
})

function summaryOf(
  { toolkit, shared, active }: Judged,
  { over, toolCount }: { over: Limit | undefined; toolCount: number },
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
