import { DropdownMenu as Primitive } from 'radix-ui'
import type { ComponentProps } from 'react'
import { cn } from './cn.ts'

export const Menu = Primitive.Root
export const MenuTrigger = Primitive.Trigger

export function MenuContent({ className, ...props }: ComponentProps<typeof Primitive.Content>) {
  return (
    <Primitive.Portal>
      <Primitive.Content
        align="end"
        sideOffset={6}
        className={cn('z-50 min-w-40 animate-fade-in rounded-xl border bg-raised p-1 shadow-raised', className)}
        {...props}
      />
    </Primitive.Portal>
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
