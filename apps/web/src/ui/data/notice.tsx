import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

interface NoticeProps {
  title: string
  detail: string
  action: string
  reference?: string
  /** Whether the detail is folded, because fields show it better. */
  folded?: boolean
  children?: ReactNode
}

/** Problem with its fix and request id, announced by screen readers. */
export function Notice({ title, detail, action, reference, folded = false, children }: NoticeProps) {
  const id = reference && <span className="font-mono text-xs wrap-anywhere text-ink-muted">{reference}</span>
  return (
    <div role="alert" className="flex gap-3 rounded-xl border border-bad-line bg-bad-soft p-3.5 text-sm">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="grid min-w-0 flex-1 gap-1">
        <p className="font-medium text-bad">{title}</p>
        {!folded && detail !== title && <p className="wrap-anywhere">{detail}</p>}
        <p className="wrap-anywhere">{withCode(action)}</p>
        {folded ? (
          <details className="text-ink-muted">
            <summary className="w-fit cursor-pointer rounded-sm text-[0.8125rem]">Details</summary>
            <p className="mt-1 font-mono text-xs wrap-anywhere">{detail}</p>
            {id}
          </details>
        ) : (
          id
        )}
        {children}
      </div>
    </div>
  )
}

// The API writes field and setting names in backticks.
const withCode = (text: string): ReactNode =>
  text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      <code key={part} className="font-mono text-[0.9em]">
        {part}
      </code>
    ) : (
      part
    ),
  )
