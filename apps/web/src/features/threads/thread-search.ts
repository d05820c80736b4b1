/** What of this page stands in the address. */
import { pickStrings } from '../../lib/url-search.ts'

export const MODES = ['ask', 'find', 'program'] as const
export type Mode = (typeof MODES)[number]

export interface ThreadSearch {
  /** What the composer does; without it, what can be done: ask where there is a model, else find. */
  mode?: Mode
}

export function readThread(search: Record<string, unknown>): ThreadSearch {
  const mode = MODES.find((value) => value === pickStrings(search, ['mode']).mode)
  return mode ? { mode } : {}
}
