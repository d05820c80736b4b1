/** Element ids for focus restoration. */
export const ADD_BUTTON = 'add-server'
export const YOURS = 'your-servers'

// The opener of a dialog may be gone when it closes, so the first existing fallback gets the focus.
export function focusFirst(...ids: string[]): void {
  const found = ids.map((id) => document.getElementById(id)).find((element) => element !== null)
  found?.focus()
}
