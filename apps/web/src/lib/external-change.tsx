/** Whether somebody else, or another tab, saved what is edited here. One's own save is no such news. */

import type { ClientResponse } from 'hono/client'
import { CircleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../ui/form/button.tsx'
import { answer, ProblemError } from './api.ts'

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
  onResolved: () => void
}

export function useExternalChange<Draft>(watched: Watched<Draft>) {
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
    watched.onResolved()
  }
  return {
    elsewhere: news !== undefined && isChanged ? { take: by(take, news), keep: by(keep, news) } : undefined,
    pass: (draft: Draft | undefined) => pass({ draft }),
  }
}

interface SavedElsewhereProps {
  /** What is edited. */
  noun: string
  take: () => void
  keep: () => void
}

/** Whoever saves last must know that they are not the only one. */
export function EditConflict({ noun, take, keep }: SavedElsewhereProps) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded-xl border border-act/30 bg-act-soft/50 p-3.5 text-sm"
    >
      <CircleAlert aria-hidden className="size-4 shrink-0 text-act" />
      <p className="min-w-0 flex-1 basis-64">
        This {noun} was saved elsewhere while you changed it here. Yours would take the place of what was saved.
      </p>
      <span className="flex flex-wrap gap-2">
        <Button size="small" onClick={take}>
          Take what was saved
        </Button>
        <Button size="small" onClick={keep}>
          Keep mine
        </Button>
      </span>
    </div>
  )
}

/** Saves over nobody: what is stored is looked at first, and who saves between that look and the save comes first. */
interface Look<T> {
  reading: Promise<ClientResponse<unknown>>
  /** Whether it is what the draft began with. */
  isSeen: (now: T) => boolean
  /** Where it is not, the page shows what is there now. */
  onNews: (now: T) => void
}

/** The headers to save with. */
export async function ifUnchanged<T>({ reading, isSeen, onNews }: Look<T>): Promise<{ 'if-match': string }> {
  const now = (await answer(reading)) as T
  if (isSeen(now)) return { 'if-match': (await reading).headers.get('etag') ?? '*' }
  onNews(now)
  throw new ProblemError(CHANGED)
}

const CHANGED = {
  title: 'It was changed elsewhere',
  detail: 'Somebody saved it, in another window or on another device, after you opened it here.',
  action: 'Look at what was saved, or keep yours, then save again.',
  type: 'about:blank',
  status: 409,
  code: 'conflict',
  requestId: '',
}
