import { DropdownMenu as Primitive } from 'radix-ui'
import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

/** Non-modal, so that screen readers can still reach the page. */
export const Menu = (props: ComponentProps<typeof Primitive.Root>) => <Primitive.Root modal={false} {...props} />
export const MenuTrigger = Primitive.Trigger

export function MenuContent({ className, ...props }: ComponentProps<typeof Primitive.Content>) {
  return (
    <Primitive.Content
      align="end"
      sideOffset={6}
      className={cn('z-20 min-w-40 animate-fade-in rounded-xl border bg-raised p-1 shadow-raised', className)}
      {...props}
    />
  )
}

export function MenuItem({
  danger = false,
  className,
  ...props
}: ComponentProps<typeof Primitive.Item> & { danger?: boolean }) {
  return (
    <Primitive.Item
      className={cn(
        'flex h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-sm outline-none select-none [&_svg]:size-4',
        danger ? 'text-bad data-highlighted:bg-bad-soft' : 'data-highlighted:bg-sunken [&_svg]:text-ink-muted',
        className,
      )}
      {...props}
    />
  )
}
