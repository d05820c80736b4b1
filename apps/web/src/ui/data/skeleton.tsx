import { cn } from '../cn.ts'

/** Loading placeholder; its container has the loading text. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cn('block rounded-md bg-line/70 motion-safe:animate-pulse', className)} />
}
