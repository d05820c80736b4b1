/** Tools that a toolkit offers, with overrides applied. Blocked tools carry the reason. */

import type { CatalogTool } from '../catalog/catalog.ts'
import { compileGlob } from '../schema/glob.ts'
import type { Tier } from '../schema/scope.ts'
import type { Reason } from '../schema/toolkit/loadout-entry.ts'
import type { CustomTool } from '../schema/toolkit/server.ts'
import { type AllowedCaller, functionalManifest, type ToolTransformer } from '../schema/toolkit/tool.ts'
import type { Toolkit, ToolOverride } from '../schema/toolkit/toolkit.ts'
import { tokensOf } from './built-in-entry.ts'
import { modelDescription } from './model-description.ts'
import { toolModelName } from './model-name.ts'
import type { Candidate } from './overlay.ts'
import { tightenAnnotations } from './transform/tighten.ts'
import { transformTool } from './transform/transform.ts'

export interface Offer {
  toolkit: Toolkit
  tier: Tier
  uscoId?: string | undefined
  tools: readonly CatalogTool[]
  /** Transformers of this toolkit, in order. */
  transformers?: readonly ToolTransformer[]
}

export function candidatesOf({ toolkit, tier, uscoId, tools, transformers = [] }: Offer): Candidate[] {
  const include = toolkit.include.map(compileGlob)
  const exclude = toolkit.exclude.map(compileGlob)
  return tools.map((found) => {
    const { name } = found.manifest
    const override = Object.hasOwn(toolkit.overrides, name) ? toolkit.overrides[name] : undefined
    const blockedBy =
      blockedByCatalog(found) ??
      (override?.enabled === false ? offInToolkit(tier) : undefined) ??
      (include.length > 0 && !include.some((glob) => glob.matches(name)) ? filtered(tier, 'include') : undefined) ??
      (exclude.some((glob) => glob.matches(name)) ? filtered(tier, 'exclude') : undefined) ??
      // Last: a filtered tool needs no acceptance.
      (found.blocked ? UNACCEPTED : undefined)
    const candidate = toCandidate({ toolkit, tier, uscoId }, found, override)
    if (blockedBy) return { ...candidate, blockedBy }
    const transformed = transformTool(candidate, transformers)
    return transformed.blockedBy ? { ...candidate, blockedBy: transformed.blockedBy } : transformed.tool
  })
}

function toCandidate(
  { toolkit, tier, uscoId }: Pick<Offer, 'toolkit' | 'tier' | 'uscoId'>,
  { manifest }: CatalogTool,
  override: ToolOverride = {},
): Candidate {
  const { id, deferLoading } = toolkit
  const defined = definitionOf(toolkit, manifest.name)
  const annotations = tightenAnnotations(manifest.annotations, override.annotations)
  const examples = override.examples ?? defined?.examples
  const description = override.description ?? manifest.description
  const presented = {
    ...functionalManifest(manifest),
    name: override.name ?? manifest.name,
    ...(override.title === undefined ? {} : { title: override.title }),
    ...(description === undefined ? {} : { description: modelDescription(description) }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  return {
    ref: `${id}.${manifest.name}`,
    modelName: toolModelName(id, presented.name),
    tier,
    toolkit: id,
    toolkitName: toolkit.name,
    ...(uscoId === undefined ? {} : { uscoId }),
    tool: manifest.name,
    manifest: presented,
    ...(override.providerOptions === undefined ? {} : { providerOptions: override.providerOptions }),
    ...(examples === undefined ? {} : { examples }),
    deferred: override.deferLoading ?? defined?.deferLoading ?? deferLoading,
    allowedCallers: callersOf(toolkit, manifest.name),
    tokens: tokensOf(presented),
  }
}

/** Definition of a custom tool. */
function definitionOf({ server }: Toolkit, name: string): CustomTool | undefined {
  return server.type === 'custom' ? server.tools.find((tool) => tool.name === name) : undefined
}

function blockedByCatalog({ inactive, changed }: CatalogTool): Reason | undefined {
  if (inactive !== undefined) return { kind: 'disabled', speaks: 'against', detail: `It cannot be used: ${inactive}.` }
  if (changed !== undefined)
    return {
      kind: 'pin',
      speaks: 'against',
      detail: 'Its server changed it since it was accepted; review the change and accept it.',
    }
  return undefined
}

export const UNACCEPTED: Reason = {
  kind: 'pin',
  speaks: 'against',
  detail: 'Its server is not trusted and nobody accepted the tool yet; look at it and accept it.',
}
export const offInToolkit = (tier: Tier): Reason => ({
  kind: 'disabled',
  speaks: 'against',
  tier,
  detail: 'The tool is switched off in its toolkit.',
})
const filtered = (tier: Tier, list: 'include' | 'exclude'): Reason => ({
  kind: 'filter',
  speaks: 'against',
  tier,
  detail: list === 'include' ? 'It fits none of the globs in "include".' : 'It fits a glob in "exclude".',
})

/** Callers of a tool: its override, else its definition, else the toolkit. */
export function callersOf(
  { overrides, server, allowedCallers }: Pick<Toolkit, 'overrides' | 'server' | 'allowedCallers'>,
  name: string,
): AllowedCaller[] {
  const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined
  const defined = server.type === 'custom' ? server.tools.find((tool) => tool.name === name) : undefined
  return override?.allowedCallers ?? defined?.allowedCallers ?? allowedCallers
}
