/**
 * What one prompt is answered with: the part of a loadout that is chosen for it. Plain data, and nothing in it is outside the
 * loadout it was chosen from.
 */
import { z } from 'zod'
import { loadoutEntry } from '../schema/loadout-entry.ts'
import { STRATEGIES } from './search.ts'

/** How a tool came into a selection: it is never deferred, it was loaded before, it was kept, or the prompt found it. */
export const chosenBy = z.enum(['always', 'loaded', 'sticky', 'search'])
export type ChosenBy = z.infer<typeof chosenBy>

export const selectedTool = z.object({
  entry: loadoutEntry,
  by: chosenBy,
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
  threadId: z.string(),
  /** What the model gets with full schemas, in order; `search_tools` is the last where there is more to find. */
  tools: z.array(selectedTool),
  /** What is carried beside that. The model sees nothing of it until it is found. */
  deferred: z.array(loadoutEntry),
  tokens: selectionTokens,
  strategy: z.enum(STRATEGIES),
  /** What did not go as asked: tools that the budget left out, limits of a provider that are near. */
  warnings: z.array(z.string()),
})
export type SelectionData = z.infer<typeof selection>
