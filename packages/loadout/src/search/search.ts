/**
 * The search contract: which tools does this prompt need? A strategy ranks the tools of a view, which holds only what its scope
 * may use; nothing else can be found. The same query over the same view gives the same answer.
 */
import type { JsonObject } from '../schema/json.ts'

export { STRATEGIES, type Strategy } from '../schema/toolkit/selection.ts'

/** A tool as it is searched. */
export interface SearchTool {
  /** `toolkit.tool`. */
  ref: string
  name: string
  title?: string | undefined
  /** The words of its toolkit: its id, its name, what it says of itself. */
  toolkit: string
  description?: string | undefined
  inputSchema: JsonObject
  /** What it was asked for before, or will be. */
  examples?: readonly string[] | undefined
}

export interface Hit {
  ref: string
  /** 1 for the best that there could be, by this strategy. */
  score: number
  /** Why: the words that met, and where. */
  reasons: readonly string[]
}

export interface Query {
  text: string
  limit: number
  /** Of what is searched, only these are found. A ref may stand in more than one segment. */
  allow?: ((ref: string, segment: number) => boolean) | undefined
}
