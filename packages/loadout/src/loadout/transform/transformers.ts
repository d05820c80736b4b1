/** Standard transformers. Custom ones are plain functions. */
import { compileGlob } from '../../schema/glob.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Annotations, PresentedTool, ToolSource, ToolTransformer } from '../../schema/toolkit/tool.ts'
import { tightenAnnotations as tightened } from './tighten.ts'

/** Adds a prefix to tool names. */
export function prefix(text: string): ToolTransformer {
  return function prefix(tool) {
    return { ...tool, name: `${text}${tool.name}` }
  }
}

/** Changes the description: a text to prepend, or a function that returns the new one. */
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
  /** Includes only tools whose name matches one of these globs. */
  include?: readonly string[]
  exclude?: readonly string[]
  /** Includes only tools with exactly these annotations. A missing hint has its MCP default. */
  annotations?: Omit<Annotations, 'title'>
}

/** MCP defaults of missing hints. */
const UNSAID = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const

/** Removes tools that do not match. */
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

/** Adds options for a model’s provider, by its name: `{ openai: { strict: true } }`. What it knows of them is sent (docs/guides/models/providers.md). */
export function providerOptions(options: JsonObject): ToolTransformer {
  return function providerOptions(tool) {
    return { ...tool, providerOptions: { ...tool.providerOptions, ...options } }
  }
}

/** Tightens annotations; looser values are ignored. */
export function tighten(annotations: Annotations): ToolTransformer {
  return function tighten(tool) {
    return { ...tool, annotations: tightened(tool.annotations, annotations) ?? annotations }
  }
}
