/** Detects that an edited item was saved elsewhere. The page's own save is ignored. */

import type { ClientResponse } from 'hono/client'
import { CircleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../ui/form/button.tsx'
import { answer, ProblemError } from './api.ts'

interface Watched<Draft> {
  /** Stored item, as far as this page knows. */
  stored: Draft | undefined
  /** Item that the draft started with. */
  base: Draft
  isSame: (one: Draft, other: Draft) => boolean
  isChanged: boolean
  isSaving: boolean
  /** Replaces the draft with the stored item. */
  take: (stored: Draft) => void
  /** Keeps the draft, which then overwrites the stored item. */
  keep: (stored: Draft) => void
  /** Called after `take` or `keep`. */
  onResolved: () => void
}

export function useExternalChange<Draft>(watched: Watched<Draft>) {
  const { stored, base, isSame, isChanged, isSaving, take, keep } = watched
  // After the page's own save the query briefly has the previous item.
  const [passed, pass] = useState<{ draft: Draft | undefined }>()
  const isPassed = stored !== undefined && passed?.draft !== undefined && isSame(stored, passed.draft)
  const news = stored !== undefined && !isSaving && !isSame(stored, base) && !isPassed ? stored : undefined
  useEffect(() => {
    // An unchanged draft follows the stored item.
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
  /** Noun of the edited item. */
  noun: string
  take: () => void
  keep: () => void
}

/** Warns about a concurrent save. */
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

/** Optimistic concurrency: reads the stored item first, and its ETag detects a save in between. */
interface Look<T> {
  reading: Promise<ClientResponse<unknown>>
  /** Whether the item is what the draft started with. */
  isSeen: (now: T) => boolean
  /** Called with a changed item. */
  onNews: (now: T) => void
}

/** Returns the `if-match` header for the save. */
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
