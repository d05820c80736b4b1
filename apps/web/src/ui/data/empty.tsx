import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** Empty state: what will be here, and how to get it. */
export function Empty({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon
  title: string
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="grid justify-items-center gap-3 rounded-2xl border border-dashed px-6 py-12 text-center">
      <span className="flex size-11 items-center justify-center rounded-xl border bg-surface text-ink-muted shadow-flat">
        <Icon aria-hidden className="size-5" strokeWidth={1.75} />
      </span>
      <h2 className="font-semibold tracking-tight">{title}</h2>
      <div className="max-w-md text-sm text-ink-muted">{children}</div>
      {action}
    </div>
  )
}
