import type { ReactNode } from 'react'
import { toast } from 'sonner'
import { Notice } from '../ui/data/notice.tsx'
import { type Problem, problemOf } from './api.ts'

/** How a problem is said. Of a conflict the API's title says nothing that fits all: what happened is the heading itself. */
export function formatProblem({ type, title, detail, action }: Pick<Problem, 'type' | 'title' | 'detail' | 'action'>) {
  return { title: type === 'urn:loadout:problem:conflict' ? detail : title, detail, action }
}

/** An error of the API as a person reads it. */
export function ProblemNotice({ error, folded, children }: { error: unknown; folded?: boolean; children?: ReactNode }) {
  const { requestId, ...problem } = problemOf(error)
  const { title, detail, action } = formatProblem(problem)
  return (
    <Notice title={title} detail={detail} action={action} reference={requestId} folded={folded && title !== detail}>
      {children}
    </Notice>
  )
}

/** For what was asked for and has no place on the page to say that it failed. */
export function toastProblem(error: unknown): void {
  const { title, detail, action } = formatProblem(problemOf(error))
  toast.error(title, { description: title === detail ? action : `${detail} ${action}` })
}
