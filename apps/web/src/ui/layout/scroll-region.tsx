import type { ComponentProps } from 'react'

/** A part that scrolls by itself, with a name: who has no mouse must be able to reach it. */
export function ScrollRegion({ label, ...props }: ComponentProps<'div'> & { label: string }) {
  const reachable = { role: 'group', tabIndex: 0, 'aria-label': label } as const
  return <div {...reachable} {...props} />
}
