import type { ReactNode } from 'react'
import { cn } from '../cn.ts'

interface MeterProps {
  label: string
  used: number
  /** Without a limit there is no bar. */
  limit: number | undefined
  children?: ReactNode
}

const number = (value: number) => value.toLocaleString('en')

/** Usage of a limit in numbers and as a bar: amber near the limit, red at it. */
export function Meter({ label, used, limit, children }: MeterProps) {
  const share = limit === undefined ? 0 : limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <div className="grid gap-1.5">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
        <span className="font-medium">{label}</span>
        <span className="text-ink-muted tabular-nums">
          {number(used)} {limit === undefined ? '· no limit' : `of ${number(limit)}`}
        </span>
      </p>
      {limit !== undefined && (
        <div aria-hidden className="h-2 overflow-hidden rounded-full bg-line">
          <div
            className={cn('h-full rounded-full', share >= 1 ? 'bg-bad' : share > 0.8 ? 'bg-act' : 'bg-accent')}
            style={{ width: `${share * 100}%` }}
          />
        </div>
      )}
      {children && <p className="text-[0.8125rem] text-ink-muted">{children}</p>}
    </div>
  )
}
