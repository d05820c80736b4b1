/** Whether Y and N answer a card that has the focus. Single keys must be switchable (WCAG 2.1.4); kept in this browser. */
import { useSyncExternalStore } from 'react'

const KEY = 'loadout-approval-keys'
const CHANGED = 'loadout-approval-keys-changed'

/** Where storage is blocked the page itself has it, as long as it is open. */
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
