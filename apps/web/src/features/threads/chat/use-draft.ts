import { useState } from 'react'
import { useSession } from '../../shell/session.ts'

/** Draft text per tab and user; it survives leaving the page. */
export function useDraft(key: string): [string, (text: string) => void] {
  const user = useSession()?.user?.id
  const [userId, setUserId] = useState(user)
  // An ended session keeps the user id, so the draft stays.
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
      // Storage may be blocked or full; the page still has the text.
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
