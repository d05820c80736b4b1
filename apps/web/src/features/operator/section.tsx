import type { ReactNode } from 'react'
import { Skeleton } from '../../ui/data/skeleton.tsx'

interface SectionProps {
  title: string
  note?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A titled section of a tab. */
export function Section({ title, note, actions, children }: SectionProps) {
  const id = `section-${title.toLowerCase().replace(/\W+/g, '-')}`
  return (
    <section aria-labelledby={id} className="grid gap-3">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid max-w-xl gap-0.5">
          <h2 id={id} className="font-semibold tracking-tight">
            {title}
          </h2>
          {note && <p className="text-sm text-ink-muted">{note}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}

export function Loading({ label }: { label: string }) {
  return (
    <div role="status" className="grid gap-3">
      <span className="sr-only">{label}</span>
      <Skeleton className="h-5 w-40" />
      <Skeleton className="h-28 w-full rounded-xl" />
      <Skeleton className="h-28 w-full rounded-xl" />
    </div>
  )
}
