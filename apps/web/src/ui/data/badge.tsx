import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

export function Badge({ className, ...props }: ComponentProps<'span'>) {
  return (
    <span
      className={cn(
        'inline-flex h-5.5 items-center gap-1 rounded-md border border-line bg-sunken px-1.5 text-xs font-medium whitespace-nowrap text-ink-muted',
        className,
      )}
      {...props}
    />
  )
}
