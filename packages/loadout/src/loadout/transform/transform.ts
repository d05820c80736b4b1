/**
 * Applies transformers `(tool) => tool | null` in order. They change the presentation of a tool or remove it. They
 * cannot change its identity or relax its annotations, and a transformer that throws removes only its own tool.
 */
import type { LoadoutEntry, Reason } from '../../schema/toolkit/loadout-entry.ts'
import type { PresentedTool, ToolTransformer } from '../../schema/toolkit/tool.ts'
import { toolManifest } from '../../schema/toolkit/tool.ts'
import { tokensOf } from '../built-in-entry.ts'
import { toolModelName } from '../model-name.ts'
import { tightenAnnotations } from './tighten.ts'

type Offered = Omit<LoadoutEntry, 'included' | 'reasons'>

export interface Transformed<T> {
  tool: T
  /** Reason of the removal. */
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

/** Validates the result of a transformer like external input. */
function read({ deferred, providerOptions, ...manifest }: PresentedTool, before: PresentedTool): PresentedTool {
  const checked = toolManifest.parse(manifest)
  const annotations = tightenAnnotations(before.annotations, checked.annotations)
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
    modelName:
      manifest.name === offered.manifest.name ? offered.modelName : toolModelName(offered.toolkit, manifest.name),
    tokens: tokensOf(manifest),
    deferred,
    ...(providerOptions ? { providerOptions } : {}),
  }
}

/** Manifests are shared through the cache, so a transformer that mutates one must fail. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
  return value
}
