import { Tabs as Primitive } from 'radix-ui'
import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

export const Tabs = Primitive.Root

/** Scrolls the active tab into view if the list overflows. */
function showChosen(list: HTMLElement | null): void {
  const chosen = list?.querySelector<HTMLElement>('[data-state=active]')
  if (list && chosen) list.scrollLeft = chosen.offsetLeft + chosen.offsetWidth - list.offsetLeft - list.clientWidth
}

export function TabList({ className, ...props }: ComponentProps<typeof Primitive.List>) {
  return (
    <Primitive.List
      ref={showChosen}
      className={cn('-mx-1 flex gap-3 overflow-x-auto border-b', className)}
      {...props}
    />
  )
}

export function Tab({ className, ...props }: ComponentProps<typeof Primitive.Trigger>) {
  return (
    <Primitive.Trigger
      className={cn(
        '-mb-px flex h-10 shrink-0 items-center gap-2 rounded-t-md border-b-2 px-1 border-transparent text-sm font-medium text-ink-muted outline-offset-[-2px] transition-colors hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink [&_svg]:size-4',
        className,
      )}
      {...props}
    />
  )
}

export function TabPanel({ className, ...props }: ComponentProps<typeof Primitive.Content>) {
  return <Primitive.Content className={cn('pt-5 focus:outline-none', className)} {...props} />
}
