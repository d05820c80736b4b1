/**
 * The search contract: which tools does this prompt need? A strategy ranks the tools of a view, which contains only
 * what its scope may use. The same query over the same view gives the same result.
 */
import type { JsonObject } from '../schema/json.ts'

export { STRATEGIES, type Strategy } from '../schema/toolkit/selection.ts'

/** A searchable tool. */
export interface SearchTool {
  /** `toolkit.tool`. */
  ref: string
  name: string
  title?: string | undefined
  /** Words of its toolkit: id and name. */
  toolkit: string
  description?: string | undefined
  inputSchema: JsonObject
  /** Example prompts and prompts of earlier calls. */
  examples?: readonly string[] | undefined
}

export interface Hit {
  ref: string
  /** 1 is the best score of this strategy. */
  score: number
  /** Matched words and their fields. */
  reasons: readonly string[]
}

export interface Query {
  text: string
  limit: number
  /** Filter of hits. A ref may be in more than one segment. */
  allow?: ((ref: string, segment: number) => boolean) | undefined
}
