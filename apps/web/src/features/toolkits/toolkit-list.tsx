import type { ReactNode } from 'react'
import type { Toolkit } from '../../api.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { RowActions } from './row-actions.ts'
import { ToolkitRow } from './toolkit-row.tsx'

interface SectionProps {
  id: string
  title: string
  note?: string
  count?: number | undefined
  children: ReactNode
}

export function Section({ id, title, note, count, children }: SectionProps) {
  return (
    <section aria-labelledby={id} className="grid gap-3">
      <div className="grid gap-0.5">
        <h2 id={id} tabIndex={-1} className="flex items-baseline gap-2 font-semibold tracking-tight focus:outline-none">
          {title}
          {count !== undefined && count > 0 && (
            <span className="text-sm font-normal text-ink-faint tabular-nums">{count}</span>
          )}
        </h2>
        {note && <p className="text-sm text-ink-muted">{note}</p>}
      </div>
      {children}
    </section>
  )
}

const card = 'divide-y overflow-hidden rounded-xl border bg-surface shadow-flat'

interface ToolkitListProps {
  toolkits: readonly Toolkit[]
  open: string | undefined
  actions: RowActions
}

export function ToolkitList({ toolkits, open, actions }: ToolkitListProps) {
  return (
    <ul className={card}>
      {toolkits.map((toolkit) => (
        <ToolkitRow
          key={toolkit.uscoId}
          toolkit={toolkit}
          open={open === toolkit.uscoId || open === toolkit.id}
          actions={actions}
        />
      ))}
    </ul>
  )
}

export function LoadingList() {
  return (
    <div role="status" className={card}>
      <span className="sr-only">Loading your servers</span>
      {['w-32', 'w-44', 'w-24'].map((width) => (
        <div key={width} className="flex items-start gap-4 p-4 sm:px-5">
          <Skeleton className="hidden size-9 rounded-lg sm:block" />
          <div className="grid flex-1 gap-2.5 py-2">
            <Skeleton className={`h-4 ${width}`} />
            <Skeleton className="h-3.5 w-3/5" />
          </div>
          <Skeleton className="mt-1.5 h-6 w-10 rounded-full" />
        </div>
      ))}
    </div>
  )
}
