/** Which dialog is open stands in the address, so that Back closes it and a link can open it. */
export interface DialogSearch {
  add?: 'stdio' | 'http'
  edit?: string
}

export function readDialog(search: Record<string, unknown>): DialogSearch {
  if (search.add === 'stdio' || search.add === 'http') return { add: search.add }
  return typeof search.edit === 'string' ? { edit: search.edit } : {}
}
