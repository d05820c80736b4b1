import { useState } from 'react'

/** What is being written, kept for the tab: leaving the page and coming back loses nothing. */
export function useDraft(key: string): [string, (text: string) => void] {
  const place = `loadout-draft ${key}`
  const [draft, setDraft] = useState(() => read(place))
  const write = (text: string) => {
    setDraft(text)
    try {
      if (text === '') window.sessionStorage.removeItem(place)
      else window.sessionStorage.setItem(place, text)
    } catch {
      // Storage may be blocked or full; the text is still on the page.
    }
  }
  return [draft, write]
}

function read(place: string): string {
  try {
    return window.sessionStorage.getItem(place) ?? ''
  } catch {
    return ''
  }
}
