import type { ReactNode } from 'react'
import { problemOf } from '../../api.ts'
import { Notice } from '../../ui/notice.tsx'

/** An error of the API as a person reads it. */
export function ProblemNotice({ error, folded, children }: { error: unknown; folded?: boolean; children?: ReactNode }) {
  const { title, detail, action, requestId } = problemOf(error)
  return (
    <Notice title={title} detail={detail} action={action} reference={requestId} folded={folded}>
      {children}
    </Notice>
  )
}
