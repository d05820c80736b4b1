/**
 * Reads a tool's `providerOptions`. Apps and overrides write them, so only valid options that the provider knows are
 * sent.
 */
import { z } from 'zod'
import type { JsonObject } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SchemaProvider } from './schema/schema-rules.ts'

/** `strict` on the tool, or nested as in Chat Completions. */
const openai = z.looseObject({
  strict: z.boolean().optional(),
  function: z.looseObject({ strict: z.boolean().optional() }).optional(),
})

/** The tool's own strict setting for OpenAI; undefined when unset. */
export function openaiStrict({ providerOptions }: LoadoutEntry): boolean | undefined {
  const read = openai.safeParse(providerOptions?.openai)
  return read.success ? (read.data.strict ?? read.data.function?.strict) : undefined
}

/** Schema mode of one tool for OpenAI: its own setting takes precedence over the common one. */
export function openaiSchemas<T extends SchemaProvider>(
  entry: LoadoutEntry,
  schemas: T | undefined,
): T | 'openai-strict' | undefined {
  if (schemas !== undefined && schemas !== 'openai-strict') return schemas
  const strict = openaiStrict(entry)
  if (strict === undefined) return schemas
  return strict ? 'openai-strict' : undefined
}

const cacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
const anthropic = {
  strict: z.literal(true),
  cacheControl,
  eagerInputStreaming: z.boolean(),
}

export interface AnthropicToolOptions {
  strict?: true
  cache_control?: z.infer<typeof cacheControl>
  eager_input_streaming?: boolean
}

/** Each option separately, in both spellings: an invalid option does not affect others. */
export function anthropicOptions({ providerOptions }: LoadoutEntry): AnthropicToolOptions {
  const raw = providerOptions?.anthropic
  if (typeof raw !== 'object' || raw === null) return {}
  const options = raw as JsonObject
  const strict = anthropic.strict.safeParse(options.strict)
  const cached = anthropic.cacheControl.safeParse(options.cacheControl ?? options.cache_control)
  const eager = anthropic.eagerInputStreaming.safeParse(options.eagerInputStreaming ?? options.eager_input_streaming)
  return {
    ...(strict.success ? { strict: true } : {}),
    ...(cached.success ? { cache_control: cached.data } : {}),
    ...(eager.success ? { eager_input_streaming: eager.data } : {}),
  }
}

const MAX_BREAKPOINTS = 4

interface Cached {
  cache_control?: unknown
  defer_loading?: true
}

/** Anthropic caches at most four breakpoints and no deferred tool: the last four requested are kept. */
export function withinBreakpoints<T extends object>(tools: readonly T[]): { tools: T[]; warnings: string[] } {
  const hasCacheControl = (tool: Cached) => tool.cache_control !== undefined
  const requested = tools.filter(hasCacheControl)
  const accepted = new Set(requested.filter((tool: Cached) => tool.defer_loading !== true).slice(-MAX_BREAKPOINTS))
  if (accepted.size === requested.length) return { tools: [...tools], warnings: [] }
  const without = ({ cache_control: _, ...rest }: Cached & T) => rest as unknown as T
  return {
    tools: tools.map((tool) => (hasCacheControl(tool) && !accepted.has(tool) ? without(tool) : tool)),
    warnings: [
      `Anthropic takes cacheControl of at most ${MAX_BREAKPOINTS} tools, and of none that waits: ${requested.length - accepted.size} were sent without it.`,
    ],
  }
}
