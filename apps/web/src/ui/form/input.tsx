import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

// 16 px on phones, because iOS zooms into smaller inputs.
const box =
  'w-full min-w-0 rounded-lg border border-line-strong/70 bg-raised px-3 text-base text-ink transition-colors placeholder:text-ink-faint hover:border-line-strong focus-visible:border-accent focus-visible:outline-offset-0 aria-invalid:border-bad aria-invalid:outline-bad sm:text-sm'

export function Input({ className, ...props }: ComponentProps<'input'>) {
  return <input className={cn(box, 'h-9', className)} autoComplete="off" spellCheck={false} {...props} />
}

export function Textarea({ className, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea
      className={cn(box, 'field-sizing-content max-h-56 min-h-18 resize-y py-2 leading-relaxed', className)}
      autoComplete="off"
      spellCheck={false}
      {...props}
    />
  )
}

/** Native select, for phones and screen readers. */
export function Select({ className, ...props }: ComponentProps<'select'>) {
  return (
    <span className="relative block">
      <select className={cn(box, 'h-9 appearance-none pr-9', className)} {...props} />
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-2.5 right-3 size-4 text-ink-muted"
        strokeWidth={1.75}
      />
    </span>
  )
}
