/** Which tool is to be looked at next: it is brought into sight, and its *Accept* has the focus. */
import { createContext, type RefObject, use, useEffect, useMemo, useRef, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'

interface Reviewed {
  uscoId: string
  tool: string
  /** It has been brought into sight. */
  done: () => void
}

export const Review = createContext<Reviewed | undefined>(undefined)

/** The page's side: who wants to review a toolkit gets to the first of its tools that waits for that. */
export function useReview() {
  const [target, setTarget] = useState<Omit<Reviewed, 'done'>>()
  const reviewed = useMemo(() => target && { ...target, done: () => setTarget(undefined) }, [target])
  const review = ({ uscoId, tools }: Toolkit) => {
    const first = tools.find(({ changed, held }) => changed !== undefined || held !== undefined)
    if (first) setTarget({ uscoId, tool: first.name })
  }
  return { reviewed, review }
}

/** The name of the tool of this toolkit that is to be looked at now. */
export function useReviewed({ uscoId }: Toolkit): string | undefined {
  const reviewed = use(Review)
  return reviewed?.uscoId === uscoId ? reviewed.tool : undefined
}

/** For the button that answers. */
export function useReviewFocus(toolkit: Toolkit, tool: string): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const reviewed = use(Review)
  const isReviewed = useReviewed(toolkit) === tool
  useEffect(() => {
    if (!isReviewed) return
    button.current?.focus({ preventScroll: true })
    button.current?.closest('li')?.scrollIntoView({ block: 'start' })
    reviewed?.done()
  }, [isReviewed, reviewed])
  return button
}
