/**
 * Tools in the items of an OpenAI conversation: loaded tools with their namespace, and tools that were called without
 * one.
 */
import { z } from 'zod'

const definition = z.looseObject({ type: z.literal('function'), name: z.string() })
const namespace = z.looseObject({ type: z.literal('namespace'), name: z.string(), tools: z.array(z.unknown()) })
const output = z.looseObject({
  type: z.enum(['tool_search_output', 'additional_tools']),
  tools: z.array(z.unknown()),
})
const call = z.looseObject({
  type: z.literal('function_call'),
  name: z.string(),
  namespace: z.string().nullish(),
})

export interface OpenAIHistory {
  /** Loaded tools with their namespace. A tool that was loaded alone has its own name as namespace. */
  loaded: Map<string, string>
  /** Namespaces of called tools. */
  placed: Map<string, string>
  /** Tools that were called without a namespace: they must stay callable without one. */
  bare: Set<string>
  hasSearched: boolean
}

export function readHistory(items: readonly unknown[]): OpenAIHistory {
  const history: OpenAIHistory = { loaded: new Map(), placed: new Map(), bare: new Set(), hasSearched: false }
  for (const item of items) {
    const search = output.safeParse(item)
    if (search.success) {
      history.hasSearched = true
      for (const [name, space] of toolsIn(search.data.tools)) history.loaded.set(name, space)
    }
    const called = call.safeParse(item)
    if (!called.success) continue
    if (called.data.namespace) history.placed.set(called.data.name, called.data.namespace)
    else history.bare.add(called.data.name)
  }
  return history
}

/** Tool names with their namespaces. */
export function toolsIn(tools: readonly unknown[]): Array<[name: string, namespace: string]> {
  return tools.flatMap((tool): Array<[string, string]> => {
    const space = namespace.safeParse(tool)
    if (space.success) return namesIn(space.data.tools).map((name) => [name, space.data.name])
    return namesIn([tool]).map((name) => [name, name])
  })
}

const namesIn = (tools: readonly unknown[]) =>
  tools.flatMap((tool) => {
    const read = definition.safeParse(tool)
    return read.success ? [read.data.name] : []
  })
