import { useState } from 'react'
import { useSession } from '../../shell/session.ts'

/** What is being written, kept for the tab and its user: leaving the page and coming back loses nothing. */
export function useDraft(key: string): [string, (text: string) => void] {
  const user = useSession()?.user?.id
  const [userId, setUserId] = useState(user)
  // Whose session ended is still the same: their draft stays where it is.
  if (user !== undefined && user !== userId) setUserId(user)
  const place = userId === undefined ? undefined : `loadout-draft ${userId} ${key}`
  const [written, setWritten] = useState<{ place: string | undefined; text: string }>()
  const draft = written && (written.place === place || written.place === undefined) ? written.text : read(place)
  const write = (text: string) => {
    setWritten({ place, text })
    if (place === undefined) return
    try {
      if (text === '') window.sessionStorage.removeItem(place)
      else window.sessionStorage.setItem(place, text)
    } catch {
      // Storage may be blocked or full; the text is still on the page.
    }
  }
  return [draft, write]
}

function read(place: string | undefined): string {
  if (place === undefined) return ''
  try {
    return window.sessionStorage.getItem(place) ?? ''
  } catch {
    return ''
  }
}
