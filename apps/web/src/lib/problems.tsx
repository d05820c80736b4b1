import type { ReactNode } from 'react'
import { toast } from 'sonner'
import { Notice } from '../ui/data/notice.tsx'
import { type Problem, problemOf } from './api.ts'

/** A conflict uses its detail as title, because the API's title is generic. */
export function formatProblem({ type, title, detail, action }: Pick<Problem, 'type' | 'title' | 'detail' | 'action'>) {
  return { title: type === 'urn:loadout:problem:conflict' ? detail : title, detail, action }
}

/** Shows an API error. */
export function ProblemNotice({ error, folded, children }: { error: unknown; folded?: boolean; children?: ReactNode }) {
  const { requestId, ...problem } = problemOf(error)
  const { title, detail, action } = formatProblem(problem)
  return (
    <Notice title={title} detail={detail} action={action} reference={requestId} folded={folded && title !== detail}>
      {children}
    </Notice>
  )
}

/** Toast for errors without a place on the page. */
export function toastProblem(error: unknown): void {
  const { title, detail, action } = formatProblem(problemOf(error))
  toast.error(title, { description: title === detail ? action : `${detail} ${action}` })
}
