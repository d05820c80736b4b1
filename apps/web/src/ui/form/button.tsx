import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

const button = cva(
  'inline-flex shrink-0 items-center justify-center gap-2 rounded-lg font-medium whitespace-nowrap transition-colors select-none disabled:pointer-events-none disabled:opacity-55 aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        primary: 'bg-ink text-canvas hover:bg-ink/88',
        secondary: 'border border-line bg-surface text-ink shadow-flat hover:bg-sunken',
        quiet: 'text-ink-muted hover:bg-sunken hover:text-ink',
        danger: 'bg-solid-bad text-white hover:bg-solid-bad/90',
      },
      size: {
        normal: 'h-9 px-3.5 text-sm',
        small: 'h-8 px-2.5 text-[0.8125rem]',
        icon: 'size-9',
      },
    },
    defaultVariants: { variant: 'secondary', size: 'normal' },
  },
)

export type ButtonProps = ComponentProps<'button'> & VariantProps<typeof button>

export function Button({ className, variant, size, type = 'button', ...props }: ButtonProps) {
  return <button type={type} className={cn(button({ variant, size }), className)} {...props} />
}
