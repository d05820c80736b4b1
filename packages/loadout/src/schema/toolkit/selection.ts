/** The tools that go to the model with one prompt. Plain data; every tool in it is part of the loadout. */
import { z } from 'zod'
import { loadoutEntry } from './loadout-entry.ts'
import { type AllowedCaller, allowedCaller } from './tool.ts'

export const STRATEGIES = ['hybrid', 'bm25', 'semantic', 'regex'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** Why a tool was selected: never deferred, loaded before, pinned to the thread, or found by search. */
export const selectedBy = z.enum(['always', 'loaded', 'sticky', 'search'])
export type SelectedBy = z.infer<typeof selectedBy>

export const selectedTool = z.object({
  entry: loadoutEntry,
  by: selectedBy,
  /** Search score from 0 to 1, when search found the tool. */
  score: z.number().optional(),
  reasons: z.array(z.string()),
  /** Tokens of its definition, counted with the tokenizer of the selection. */
  tokens: z.number(),
})
export type SelectedTool = z.infer<typeof selectedTool>

export const selectionTokens = z.object({
  /** Tokenizer name: `o200k_base`, or its approximation for another family. */
  tokenizer: z.string(),
  /** Tokens of the whole loadout with full schemas. */
  before: z.number(),
  /** Tokens that are sent: selected tools with full schemas, including `search_tools`. */
  after: z.number(),
  /** Whether `before` counts every tool; in very large loadouts the rest is extrapolated. */
  exact: z.boolean(),
})
export type SelectionTokens = z.infer<typeof selectionTokens>

export const selection = z.object({
  userId: z.string(),
  /** Present when the selection belongs to a thread. */
  threadId: z.string().optional(),
  /** Tools with full schemas, in an order that new tools only extend. `search_tools` is there when there is more to find. */
  tools: z.array(selectedTool),
  /** Tools at the beginning that are the same as in the thread's last selection by this process. */
  stablePrefix: z.number().int(),
  /** Other tools of the loadout. The model sees none of them until it finds them. */
  deferred: z.array(loadoutEntry),
  /** Tools that were not selected for lack of room, with the reason. */
  dropped: z.array(z.object({ ref: z.string(), reason: z.string() })),
  /** Toolkits whose tools are missing: with an error code, or `server-starting` while the first list is read. */
  unavailable: z.array(z.object({ toolkit: z.string(), code: z.string(), reason: z.string() })),
  tokens: selectionTokens,
  strategy: z.enum(STRATEGIES),
  /** Warnings, for example a fallback strategy. */
  warnings: z.array(z.string()),
})
export type SelectionData = z.infer<typeof selection>

const MAX_CHARACTERS = 1_000_000

/** A standalone search: `q` is text, or a pattern with `regex`. */
export const searchInput = z.object({
  q: z.string().max(MAX_CHARACTERS),
  strategy: z.enum(STRATEGIES).optional(),
  limit: z.number().optional(),
  context: z.string().max(MAX_CHARACTERS).optional(),
})

const MAX_MESSAGES = 1000

/** A text, or a message with text or parts. */
export const historyInput = z
  .array(z.union([z.string().max(MAX_CHARACTERS), z.looseObject({ role: z.string().max(100).optional() })]))
  .max(MAX_MESSAGES)
export type History = z.infer<typeof historyInput>

/** Maximum tools that one prompt may add. */
const MAX_SELECTED = 100
/** A model can directly call only tools with the `direct` caller. */
export const DEFAULT_CALLERS: readonly AllowedCaller[] = ['direct']
/** Default number of tools that one prompt adds to a large loadout. */
export const DEFAULT_SELECTED = 5

export const resolveInput = z.strictObject({
  /** Empty: only loaded and never-deferred tools are selected. */
  prompt: z.string().max(MAX_CHARACTERS).default(''),
  /** Previous messages of any SDK. Their words have a low weight, and tools called in them stay selected. */
  history: historyInput.optional(),
  /** Maximum tools that the prompt adds, also in a small loadout. @default 5, and all tools of a small loadout */
  limit: z.number().int().min(0).max(MAX_SELECTED).optional(),
  /** Token budget of all definitions. */
  maxTokens: z.number().int().min(0).max(100_000_000).optional(),
  /** The same budget in money, with the price per million tokens from this field or from the app. */
  costLimit: z.number().min(0).optional(),
  pricePerMillion: z.number().positive().optional(),
  /** How long to wait for servers whose tools are listed for the first time, in ms. @default a short time, if no other tools exist */
  waitMs: z.number().int().min(0).max(600_000).optional(),
  strategy: z.enum(STRATEGIES).optional(),
  /** Model whose tokens are counted: `anthropic:…`, `openai:…`. */
  model: z.string().max(200).optional(),
  /** Adds `run_code` with declarations of the tools, beside them or (`only`) instead of them. @default false */
  programs: z.union([z.boolean(), z.literal('only')]).optional(),
  /** Callers of the selection. `code` includes tools for provider-run programs. @default ['direct'] */
  callers: z.array(allowedCaller).min(1).max(10).optional(),
})
/** SDKs have their own message types. */
export type ResolveOptions = Omit<z.input<typeof resolveInput>, 'history'> & {
  history?: ReadonlyArray<string | object> | undefined
}

/** Refs of tools to load or unload. */
export const loadInput = z.array(z.string().min(1).max(400)).max(1000)
