import type { ComponentProps } from 'react'

/** Named scroll container that is reachable by keyboard. */
export function ScrollRegion({ label, ...props }: ComponentProps<'div'> & { label: string }) {
  const reachable = { role: 'group', tabIndex: 0, 'aria-label': label } as const
  return <div {...reachable} {...props} />
}
