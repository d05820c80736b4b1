/** The tool to review next: scrolled into view, with the focus on *Accept*. */
import { createContext, type RefObject, use, useEffect, useMemo, useRef, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'

interface Reviewed {
  uscoId: string
  tool: string
  /** Called once the tool is in view. */
  done: () => void
}

export const Review = createContext<Reviewed | undefined>(undefined)

/** Page state; `review` selects the first tool that needs a review. */
export function useReview() {
  const [target, setTarget] = useState<Omit<Reviewed, 'done'>>()
  const reviewed = useMemo(() => target && { ...target, done: () => setTarget(undefined) }, [target])
  const review = ({ uscoId, tools }: Toolkit) => {
    const first = tools.find(({ changed, held }) => changed !== undefined || held !== undefined)
    if (first) setTarget({ uscoId, tool: first.name })
  }
  return { reviewed, review }
}

/** Name of the tool to review in this toolkit. */
export function useReviewed({ uscoId }: Toolkit): string | undefined {
  const reviewed = use(Review)
  return reviewed?.uscoId === uscoId ? reviewed.tool : undefined
}

/** Ref for the accept button. */
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
