/** Whether somebody else, or another tab, saved what is edited here. One's own save is no such news. */
import { useEffect, useState } from 'react'

interface Watched<Draft> {
  /** As it is stored, as far as this page knows. */
  stored: Draft | undefined
  /** What the draft began with. */
  base: Draft
  isSame: (one: Draft, other: Draft) => boolean
  isChanged: boolean
  isSaving: boolean
  /** Goes on from what is stored. */
  take: (stored: Draft) => void
  /** Goes on with what is here, over what is stored. */
  keep: (stored: Draft) => void
  /** After either, on the page: what was told of it is over. */
  onAnswered: () => void
}

export function useElsewhere<Draft>(watched: Watched<Draft>) {
  const { stored, base, isSame, isChanged, isSaving, take, keep } = watched
  // What was stored before one's own save is still what the page knows for a moment.
  const [passed, pass] = useState<{ draft: Draft | undefined }>()
  const isPassed = stored !== undefined && passed?.draft !== undefined && isSame(stored, passed.draft)
  const news = stored !== undefined && !isSaving && !isSame(stored, base) && !isPassed ? stored : undefined
  useEffect(() => {
    // Who typed nothing loses nothing.
    if (news !== undefined && !isChanged) take(news)
  }, [news, isChanged, take])
  const by = (go: (stored: Draft) => void, to: Draft) => () => {
    go(to)
    watched.onAnswered()
  }
  return {
    elsewhere: news !== undefined && isChanged ? { take: by(take, news), keep: by(keep, news) } : undefined,
    pass: (draft: Draft | undefined) => pass({ draft }),
  }
}
