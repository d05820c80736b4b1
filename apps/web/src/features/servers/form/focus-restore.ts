/** Where the focus goes back to. */
export const ADD_BUTTON = 'add-server'
export const YOURS = 'your-servers'

// The element that opened a dialog may be gone when it closes; the focus then goes to what stands near it.
export function focusFirst(...ids: string[]): void {
  const found = ids.map((id) => document.getElementById(id)).find((element) => element !== null)
  found?.focus()
}
