/**
 * Transformers: `(tool) => tool | null`, applied in order. They change how a tool is shown and may take it away; they
 * cannot make it another tool, relax what its server claims, or hurt another: one that throws loses its own tool.
 */
import type { LoadoutEntry, Reason } from '../../schema/toolkit/loadout-entry.ts'
import type { PresentedTool, ToolTransformer } from '../../schema/toolkit/tool.ts'
import { toolManifest } from '../../schema/toolkit/tool.ts'
import { tokensOf } from '../built-in-entry.ts'
import { modelName } from '../model-name.ts'
import { tighten } from './tighten.ts'

type Offered = Omit<LoadoutEntry, 'included' | 'reasons'>

export interface Transformed<T> {
  tool: T
  /** Why it was left out. */
  blockedBy?: Reason
}

export function transformTool<T extends Offered>(offered: T, transformers: readonly ToolTransformer[]): Transformed<T> {
  const { ref, toolkit, tier, manifest, providerOptions, deferred } = offered
  let presented: PresentedTool = { ...manifest, deferred, ...(providerOptions ? { providerOptions } : {}) }
  for (const [index, transformer] of transformers.entries()) {
    const name = transformer.name === '' ? `number ${index + 1}` : `"${transformer.name}"`
    try {
      const next = transformer(freeze(presented), { ref, toolkit, tier })
      if (next === null) return { tool: offered, blockedBy: leftOut(`The transformer ${name} left it out.`) }
      presented = read(next, presented)
    } catch (error) {
      const detail = `The transformer ${name} failed on it: ${(error as Error)?.message ?? error}`
      return { tool: offered, blockedBy: leftOut(detail.slice(0, 500)) }
    }
  }
  return { tool: withPresented(offered, presented) }
}

const leftOut = (detail: string): Reason => ({ kind: 'transform', speaks: 'against', detail })

/** What a transformer gave back, checked as anything from outside is. */
function read({ deferred, providerOptions, ...manifest }: PresentedTool, before: PresentedTool): PresentedTool {
  const checked = toolManifest.parse(manifest)
  const annotations = tighten(before.annotations, checked.annotations)
  return {
    ...checked,
    ...(annotations ? { annotations } : {}),
    deferred: deferred === undefined ? before.deferred : deferred === true,
    ...(providerOptions === undefined ? {} : { providerOptions }),
  }
}

function withPresented<T extends Offered>(offered: T, { deferred, providerOptions, ...manifest }: PresentedTool): T {
  return {
    ...offered,
    manifest,
    modelName: manifest.name === offered.manifest.name ? offered.modelName : modelName(offered.toolkit, manifest.name),
    tokens: tokensOf(manifest),
    deferred,
    ...(providerOptions ? { providerOptions } : {}),
  }
}

/** A manifest is shared by all who are served from the cache; a transformer that writes into it must fail. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
  return value
}
