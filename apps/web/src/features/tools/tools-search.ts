/** URL search parameters of this page. */
import { pickStrings } from '../../lib/url-search.ts'

export const STRATEGIES = ['hybrid', 'bm25', 'semantic', 'regex'] as const
export type Strategy = (typeof STRATEGIES)[number]

export interface ToolsSearch {
  q?: string
  tool?: string
  /** Search strategy; the default is the model's. */
  strategy?: Strategy
}

const isStrategy = (text: string | undefined): text is Strategy => STRATEGIES.some((value) => value === text)

export function readTools(search: Record<string, unknown>): ToolsSearch {
  const { strategy, ...rest } = pickStrings(search, ['q', 'tool', 'strategy'])
  return isStrategy(strategy) ? { ...rest, strategy } : rest
}
