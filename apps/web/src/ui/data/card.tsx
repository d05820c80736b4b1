import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

/** Card surface. */
export const Card = ({ className, ...props }: ComponentProps<'section'>) => (
  <section className={cn('rounded-2xl border bg-surface shadow-flat', className)} {...props} />
)
