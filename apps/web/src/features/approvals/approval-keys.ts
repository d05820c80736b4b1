/** Whether Y and N resolve a focused card. WCAG 2.1.4 requires a switch for single keys; stored in this browser. */
import { useSyncExternalStore } from 'react'

const KEY = 'loadout-approval-keys'
const CHANGED = 'loadout-approval-keys-changed'

/** With blocked storage the setting lives in the document until it closes. */
function isOn(): boolean {
  try {
    return window.localStorage.getItem(KEY) !== 'off'
  } catch {
    return document.documentElement.dataset.approvalKeys !== 'off'
  }
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(CHANGED, listener)
  window.addEventListener('storage', listener)
  return () => {
    window.removeEventListener(CHANGED, listener)
    window.removeEventListener('storage', listener)
  }
}

export function useApprovalKeys(): [on: boolean, set: (on: boolean) => void] {
  const on = useSyncExternalStore(subscribe, isOn)
  const set = (next: boolean) => {
    const value = next ? 'on' : 'off'
    try {
      window.localStorage.setItem(KEY, value)
    } catch {
      document.documentElement.dataset.approvalKeys = value
    }
    window.dispatchEvent(new Event(CHANGED))
  }
  return [on, set]
}
