import { useState } from 'react'
import { useSession } from '../../shell/session.ts'

/** What is being written, kept for the tab and its user: leaving the page and coming back loses nothing. */
export function useDraft(key: string): [string, (text: string) => void] {
  const user = useSession()?.user?.id
  const [userId, setUserId] = useState(user)
  // Whose session ended is still the same: their draft stays where it is.
  if (user !== undefined && user !== userId) setUserId(user)
  const storageKey = userId === undefined ? undefined : `loadout-draft ${userId} ${key}`
  const [written, setWritten] = useState<{ storageKey: string | undefined; text: string }>()
  const draft =
    written && (written.storageKey === storageKey || written.storageKey === undefined) ? written.text : read(storageKey)
  const write = (text: string) => {
    setWritten({ storageKey, text })
    if (storageKey === undefined) return
    try {
      if (text === '') window.sessionStorage.removeItem(storageKey)
      else window.sessionStorage.setItem(storageKey, text)
    } catch {
      // Storage may be blocked or full; the text is still on the page.
    }
  }
  return [draft, write]
}

function read(storageKey: string | undefined): string {
  if (storageKey === undefined) return ''
  try {
    return window.sessionStorage.getItem(storageKey) ?? ''
  } catch {
    return ''
  }
}
