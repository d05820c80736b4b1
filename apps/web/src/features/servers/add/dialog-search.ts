/** URL search parameters of dialogs, so that Back closes a dialog and a link can open it. */
import { pickStrings } from '../../../lib/url-search.ts'
import { FILTERS, type Filter } from '../list/filter-toolkits.ts'

export const ADD_MODES = ['http', 'stdio', 'paste', 'custom'] as const
export type AddMode = (typeof ADD_MODES)[number]

export interface DialogSearch {
  add?: AddMode
  edit?: string
  /** The server whose input request is open. */
  answer?: string
  /** The unfolded server. */
  open?: string
  q?: string
  status?: Filter
}

export function readDialog(search: Record<string, unknown>): DialogSearch {
  const { edit, answer, open, q } = pickStrings(search, ['edit', 'answer', 'open', 'q'])
  const add = ADD_MODES.find((mode) => mode === search.add)
  const status = FILTERS.find((filter) => filter === search.status)
  const dialog = add ? { add } : edit ? { edit } : answer ? { answer } : {}
  return { ...dialog, ...(open ? { open } : {}), ...(q ? { q } : {}), ...(status ? { status } : {}) }
}
