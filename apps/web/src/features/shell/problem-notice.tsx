import type { ReactNode } from 'react'
import { problemOf } from '../../api.ts'
import { Notice } from '../../ui/notice.tsx'
import { problemWords } from './problem-words.ts'

/** An error of the API as a person reads it. */
export function ProblemNotice({ error, folded, children }: { error: unknown; folded?: boolean; children?: ReactNode }) {
  const { requestId, ...problem } = problemOf(error)
  const { title, detail, action } = problemWords(problem)
  return (
    <Notice title={title} detail={detail} action={action} reference={requestId} folded={folded && title !== detail}>
      {children}
    </Notice>
  )
}
