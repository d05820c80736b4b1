import { cn } from '../cn.ts'

/** The shape of what is coming. The place that holds it says in words that something loads. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cn('block rounded-md bg-line/70 motion-safe:animate-pulse', className)} />
}
