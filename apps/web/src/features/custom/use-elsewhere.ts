/** Whether somebody else, or another tab, saved the toolkit while it is edited here. Its own save is no such news. */
import { useEffect, useState } from 'react'
import { type Draft, isSame } from './custom-record.ts'

interface Watched {
  /** As it is stored, as far as this page knows. */
  stored: Draft | undefined
  /** What the draft began with. */
  base: Draft
  isChanged: boolean
  isSaving: boolean
  /** Goes on from what is stored. */
  take: (stored: Draft) => void
}

export function useElsewhere({ stored, base, isChanged, isSaving, take }: Watched) {
  // What was stored before one's own save is still what the page knows for a moment.
  const [passed, setPassed] = useState<Draft>()
  const isNews =
    stored !== undefined && !isSaving && !isSame(stored, base) && !(passed !== undefined && isSame(stored, passed))
  const news = isNews ? stored : undefined
  useEffect(() => {
    // Who typed nothing loses nothing.
    if (news && !isChanged) take(news)
  }, [news, isChanged, take])
  return { news: isChanged ? news : undefined, pass: setPassed }
}
