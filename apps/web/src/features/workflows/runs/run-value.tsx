import { cn } from '../../../ui/cn.ts'
import { VisibleText } from '../../../ui/data/visible-text.tsx'

interface ValueProps {
  label: string
  value: unknown
  /** Whether the value is truncated. */
  cut?: boolean
  className?: string
}

/** A value as text or JSON, scrolled in place. */
export function Value({ label, value, cut = false, className }: ValueProps) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div className={cn('grid min-w-0 gap-1', className)}>
      <span className="text-xs font-medium text-ink-muted">{label}</span>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-80 overflow-auto rounded-lg bg-sunken px-3 py-2 font-mono text-xs leading-relaxed whitespace-pre-wrap wrap-anywhere"
      >
        <VisibleText text={text ?? ''} />
      </section>
      {cut && <span className="text-xs text-ink-faint">Only its beginning is shown.</span>}
    </div>
  )
}
