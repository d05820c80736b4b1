/** The transformers that everybody needs. Each returns one; write your own as a function. */
import { compileGlob } from '../../schema/glob.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Annotations, PresentedTool, ToolSource, ToolTransformer } from '../../schema/toolkit/tool.ts'
import { tighten as tightened } from './tighten.ts'

/** Puts something before every name that a model sees. */
export function prefix(text: string): ToolTransformer {
  return function prefix(tool) {
    return { ...tool, name: `${text}${tool.name}` }
  }
}

/** Writes the description anew: a text before the old one, or a function that gives the new one. */
export function describe(
  describer: string | ((tool: Readonly<PresentedTool>, source: ToolSource) => string),
): ToolTransformer {
  return function describe(tool, source) {
    const description =
      typeof describer === 'string' ? `${describer} ${tool.description ?? ''}`.trimEnd() : describer(tool, source)
    return { ...tool, description }
  }
}

export interface ToolFilter {
  /** Only tools whose name fits one of these globs. */
  include?: readonly string[]
  exclude?: readonly string[]
  /** Only tools whose annotations are exactly so. A hint that is not there counts as the careful value. */
  annotations?: Omit<Annotations, 'title'>
}

/** What a hint means where a server says nothing of it (MCP). */
const UNSAID = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const

/** Leaves out what does not fit. */
export function filter({ include, exclude = [], annotations = {} }: ToolFilter): ToolTransformer {
  const wanted = include?.map(compileGlob)
  const unwanted = exclude.map(compileGlob)
  const hints = Object.entries(annotations) as Array<[keyof typeof UNSAID, boolean | undefined]>
  return function filter(tool) {
    if (wanted && !wanted.some((glob) => glob.matches(tool.name))) return null
    if (unwanted.some((glob) => glob.matches(tool.name))) return null
    const fits = hints.every(
      ([hint, value]) => value === undefined || (tool.annotations?.[hint] ?? UNSAID[hint]) === value,
    )
    return fits ? tool : null
  }
}

/** Adds options for a model’s provider, by its name: `{ openai: { strict: true } }`. What it knows of them is sent (docs/providers.md). */
export function providerOptions(options: JsonObject): ToolTransformer {
  return function providerOptions(tool) {
    return { ...tool, providerOptions: { ...tool.providerOptions, ...options } }
  }
}

/** Makes the claims of a tool more careful; what would relax them is ignored. */
export function tighten(annotations: Annotations): ToolTransformer {
  return function tighten(tool) {
    return { ...tool, annotations: tightened(tool.annotations, annotations) ?? annotations }
  }
}
