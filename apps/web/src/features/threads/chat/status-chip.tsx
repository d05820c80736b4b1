import { Ban, CircleCheck, CircleDashed, CircleHelp, CircleX, Hand, LoaderCircle, type LucideIcon } from 'lucide-react'
import { cn } from '../../../ui/cn.ts'

export type Chip = 'waiting' | 'busy' | 'done' | 'asked' | 'failed' | 'off' | 'unknown'

const LOOKS: Record<Chip, { icon: LucideIcon; className: string }> = {
  waiting: { icon: CircleDashed, className: 'border-line bg-sunken text-ink-muted' },
  busy: { icon: LoaderCircle, className: 'border-transparent bg-busy-soft text-busy' },
  done: { icon: CircleCheck, className: 'border-transparent bg-good-soft text-good' },
  asked: { icon: Hand, className: 'border-transparent bg-act-soft text-act' },
  failed: { icon: CircleX, className: 'border-transparent bg-bad-soft text-bad' },
  off: { icon: Ban, className: 'border-line bg-sunken text-ink-muted' },
  unknown: { icon: CircleHelp, className: 'border-transparent bg-act-soft text-act' },
}

/** Status label with icon and color. */
export function StatusChip({ chip, children }: { chip: Chip; children: string }) {
  const { icon: Icon, className } = LOOKS[chip]
  return (
    <span
      data-chip={chip}
      className={cn(
        'inline-flex h-6 shrink-0 items-center gap-1.5 rounded-full border px-2 text-xs font-medium whitespace-nowrap',
        className,
      )}
    >
      <Icon aria-hidden className={cn('size-3.5', chip === 'busy' && 'motion-safe:animate-spin')} />
      {children}
    </span>
  )
}
