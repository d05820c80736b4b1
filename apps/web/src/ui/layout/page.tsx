import { type ReactNode, useEffect } from 'react'
import { cn } from '../cn.ts'

interface PageProps {
  title: string
  description?: ReactNode
  actions?: ReactNode
  /** For tables, graphs and columns. */
  wide?: boolean
  children: ReactNode
}

/** The same start edge for all pages, so that nothing shifts between them. */
export const PAGE_FRAME = 'ml-(--page-inset) max-w-7xl px-4 py-7 sm:px-8 sm:py-10'

/** Page frame with `h1`, actions and document title. */
export function Page({ title, description, actions, wide = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Loadout`
  }, [title])
  return (
    <div className={PAGE_FRAME}>
      <div className={cn('grid gap-8 [&>*]:min-w-0', !wide && 'max-w-[60rem]')}>
        <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
          <div className="grid max-w-xl gap-1">
            <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
            {description && <p className="text-ink-muted">{description}</p>}
          </div>
          {actions}
        </header>
        {children}
      </div>
    </div>
  )
}
