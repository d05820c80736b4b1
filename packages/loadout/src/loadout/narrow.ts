/** Call tier: removes tools from a loadout and never adds any. */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { ToolTransformer } from '../schema/toolkit/tool.ts'
import { compileLayer, exclusively, type ToolkitVerdicts } from './layers.ts'
import { LimitCounter } from './limit-counter.ts'
import { nameApart } from './model-name.ts'
import type { Loadout } from './overlay.ts'
import { transformTool } from './transform/transform.ts'

/** Restrictions of one call. */
export interface Narrowing {
  /** Only these toolkits, tools or globs. */
  only?: readonly string[] | undefined
  except?: readonly string[] | undefined
  /** Refs of tools that are not deferred. */
  atOnce?: readonly string[] | undefined
  maxTools?: number | undefined
  maxTokens?: number | undefined
  /** Transformers of this call. */
  transform?: readonly ToolTransformer[] | undefined
}

export function narrow(loadout: Loadout, narrowing: Narrowing): Loadout {
  const { only, except = [], atOnce = [], maxTools, maxTokens, transform = [] } = narrowing
  if (Object.values(narrowing).every((value) => value === undefined)) return loadout
  const limit = (name: string, value: number | undefined) =>
    value === undefined ? undefined : { name, value, tier: 'call' as const }
  const counter = new LimitCounter(limit('maxTools', maxTools), limit('maxTokens', maxTokens))
  const listed = compileLayer({ tier: 'call', rules: only === undefined ? [] : exclusively(only) })
  const excluded = compileLayer({ tier: 'call', rules: except.map((ref) => ({ ref, on: false })) })
  const chosen = new Set(atOnce)
  const verdicts = new Map<string, readonly ToolkitVerdicts[]>()
  const counts = new Map<string, number>()
  const presented = loadout.entries.map((entry) => {
    if (!entry.included) return entry
    let about = verdicts.get(entry.toolkit)
    if (!about) {
      about = [listed(entry.toolkit), excluded(entry.toolkit)]
      verdicts.set(entry.toolkit, about)
    }
    const judged = judge(entry, about)
    return transformed(judged.deferred && chosen.has(entry.ref) ? { ...judged, deferred: false } : judged, transform)
  })
  const renamed: ReadonlyMap<LoadoutEntry, string> = transform.length === 0 ? new Map() : nameApart(named(presented))
  const entries = presented.map((entry) => {
    const name = renamed.get(entry)
    const counted = entry.included ? counter.add(name === undefined ? entry : { ...entry, modelName: name }) : entry
    if (counted.included) counts.set(entry.toolkit, (counts.get(entry.toolkit) ?? 0) + 1)
    return counted
  })
  return {
    tools: counter.tools,
    entries,
    toolkits: loadout.toolkits.map((toolkit) =>
      toolkit.toolCount === 0 ? toolkit : { ...toolkit, toolCount: counts.get(toolkit.id) ?? 0 },
    ),
    droppedToolkits: loadout.droppedToolkits,
    tokens: counter.tokens,
  }
}

function judge(entry: LoadoutEntry, about: readonly ToolkitVerdicts[]): LoadoutEntry {
  const verdicts = about
    .map(({ whole, ofTool }) => (ofTool ? ofTool(entry.tool) : whole))
    .filter((verdict) => verdict !== undefined)
  if (verdicts.length === 0) return entry
  return {
    ...entry,
    included: verdicts.every((verdict) => verdict.on),
    reasons: [...entry.reasons, ...verdicts.map((verdict) => verdict.reason)],
  }
}

function transformed(entry: LoadoutEntry, transformers: readonly ToolTransformer[]): LoadoutEntry {
  if (!entry.included || transformers.length === 0) return entry
  const { tool, blockedBy } = transformTool(entry, transformers)
  return blockedBy ? { ...entry, included: false, reasons: [...entry.reasons, { ...blockedBy, tier: 'call' }] } : tool
}

/** Renamed tools come last, so that they cannot take the name of another tool. */
function named(entries: readonly LoadoutEntry[]): LoadoutEntry[] {
  const included = entries.filter((entry) => entry.included)
  const own = (entry: LoadoutEntry) => entry.tool === entry.manifest.name
  return [...included.filter(own), ...included.filter((entry) => !own(entry))]
}
