/**
 * What one prompt is answered with: the part of a loadout that is chosen for it. Plain data, and nothing in it is outside the
 * loadout it was chosen from.
 */
import { z } from 'zod'
import { loadoutEntry } from './loadout-entry.ts'
import { type AllowedCaller, allowedCaller } from './tool.ts'

export const STRATEGIES = ['hybrid', 'bm25', 'semantic', 'regex'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** How a tool came into a selection: it is never deferred, it was loaded before, it was kept, or the prompt found it. */
export const selectedBy = z.enum(['always', 'loaded', 'sticky', 'search'])
export type SelectedBy = z.infer<typeof selectedBy>

export const selectedTool = z.object({
  entry: loadoutEntry,
  by: selectedBy,
  /** How well it fits the prompt, from 0 to 1, where the search found it. */
  score: z.number().optional(),
  reasons: z.array(z.string()),
  /** What its definition costs, by the tokenizer that the selection names. */
  tokens: z.number(),
})
export type SelectedTool = z.infer<typeof selectedTool>

export const selectionTokens = z.object({
  /** What counted: `o200k_base`, or what stands in for a family that has none of its own. */
  tokenizer: z.string(),
  /** All that is carried, with full schemas. */
  before: z.number(),
  /** What is sent: the selected tools with full schemas, `search_tools` among them. */
  after: z.number(),
  /** Whether `before` was counted to the last tool; of very many, the rest is worked out from those that were. */
  exact: z.boolean(),
})
export type SelectionTokens = z.infer<typeof selectionTokens>

export const selection = z.object({
  userId: z.string(),
  /** Where it is one thread's. */
  threadId: z.string().optional(),
  /** What the model gets with full schemas, in order; `search_tools` is the last where there is more to find. */
  tools: z.array(selectedTool),
  /** What is carried beside that. The model sees nothing of it until it is found. */
  deferred: z.array(loadoutEntry),
  /** What would have been chosen, and why it is not. */
  dropped: z.array(z.object({ ref: z.string(), reason: z.string() })),
  tokens: selectionTokens,
  strategy: z.enum(STRATEGIES),
  /** What did not go as asked. */
  warnings: z.array(z.string()),
})
export type SelectionData = z.infer<typeof selection>

const MAX_CHARACTERS = 1_000_000

/** A search by itself: `q` in words, or for `regex` a pattern. */
export const searchInput = z.object({
  q: z.string().max(MAX_CHARACTERS),
  strategy: z.enum(STRATEGIES).optional(),
  limit: z.number().optional(),
  context: z.string().max(MAX_CHARACTERS).optional(),
})

const MAX_MESSAGES = 1000

/** A text, or a message with a text or with parts. */
export const historyInput = z
  .array(z.union([z.string().max(MAX_CHARACTERS), z.looseObject({ role: z.string().max(100).optional() })]))
  .max(MAX_MESSAGES)
export type History = z.infer<typeof historyInput>

/** The most that a prompt may bring. */
const MAX_SELECTED = 100
/** A model by itself calls nothing that only programs may. */
export const DEFAULT_CALLERS: readonly AllowedCaller[] = ['direct']
/** What it brings where nobody says. */
export const DEFAULT_SELECTED = 5

export const resolveInput = z.strictObject({
  /** Without words, only what is loaded and what never waits. */
  prompt: z.string().max(MAX_CHARACTERS).default(''),
  /** Messages before it, of any SDK: their words count a little, and tools that were called in them stay. */
  history: historyInput.optional(),
  /** How many tools the prompt may bring. @default 5 */
  limit: z.number().int().min(0).max(MAX_SELECTED).default(DEFAULT_SELECTED),
  /** What the definitions may cost in all. */
  maxTokens: z.number().int().min(0).max(100_000_000).optional(),
  /** The same in money, with what a million tokens cost: as it is said here, or as the app knows of the model. */
  costLimit: z.number().min(0).optional(),
  pricePerMillion: z.number().positive().optional(),
  strategy: z.enum(STRATEGIES).optional(),
  /** Whose tokens are counted: `anthropic:…`, `openai:…`. */
  model: z.string().max(200).optional(),
  /** `run_code` with declarations of the tools, beside them or (`only`) in their place. @default false */
  programs: z.union([z.boolean(), z.literal('only')]).optional(),
  /** Who calls what is selected: with `code`, programs that the provider runs do too. @default ['direct'] */
  callers: z.array(allowedCaller).min(1).max(10).optional(),
})
/** Messages of an SDK have types of their own. */
export type ResolveOptions = Omit<z.input<typeof resolveInput>, 'history'> & {
  history?: ReadonlyArray<string | object> | undefined
}

/** Refs of tools that a thread loads or unloads. */
export const loadInput = z.array(z.string().min(1).max(400)).max(1000)
