/** Whether Y and N answer a card that has the focus. Single keys must be switchable (WCAG 2.1.4); kept in this browser. */
import { useSyncExternalStore } from 'react'

const KEY = 'loadout-approval-keys'
const CHANGED = 'loadout-approval-keys-changed'

const isOn = (): boolean => localStorage.getItem(KEY) !== 'off'

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
    localStorage.setItem(KEY, next ? 'on' : 'off')
    window.dispatchEvent(new Event(CHANGED))
  }
  return [on, set]
}
