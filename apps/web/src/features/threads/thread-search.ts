/** URL search parameters of this page. */
import { pickStrings } from '../../lib/url-search.ts'

export const MODES = ['ask', 'find', 'program'] as const
export type Mode = (typeof MODES)[number]

export interface ThreadSearch {
  /** Composer mode; the default is `ask` with a model, otherwise `find`. */
  mode?: Mode
}

export function readThread(search: Record<string, unknown>): ThreadSearch {
  const mode = MODES.find((value) => value === pickStrings(search, ['mode']).mode)
  return mode ? { mode } : {}
}
