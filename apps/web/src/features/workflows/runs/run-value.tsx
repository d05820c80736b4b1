import { cn } from '../../../ui/cn.ts'
import { VisibleText } from '../../../ui/data/visible-text.tsx'

interface ValueProps {
  label: string
  value: unknown
  /** Whether it is only the beginning. */
  cut?: boolean
  className?: string
}

/** A value as it was given: text as text, the rest as JSON. Long ones scroll in place. */
export function Value({ label, value, cut = false, className }: ValueProps) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div className={cn('grid min-w-0 gap-1', className)}>
      <span className="text-xs font-medium text-ink-muted">{label}</span>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
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
