/** Which theme this browser wears. `public/theme.js` applies it, before the first paint and at every change after. */
import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'system' | 'dark'

const KEY = 'loadout-theme'

export function wornTheme(): Theme {
  try {
    const stored = window.localStorage.getItem(KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

export function wearTheme(theme: Theme): void {
  if (theme === wornTheme()) return
  try {
    window.localStorage.setItem(KEY, theme)
  } catch {
    // Storage may be blocked; the choice cannot be kept then.
  }
  window.dispatchEvent(new Event(KEY))
}

function subscribe(changed: () => void): () => void {
  window.addEventListener(KEY, changed)
  window.addEventListener('storage', changed)
  return () => {
    window.removeEventListener(KEY, changed)
    window.removeEventListener('storage', changed)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, wornTheme)
