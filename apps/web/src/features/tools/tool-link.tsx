import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { cn } from '../../ui/cn.ts'

export const toolLinkId = (ref: string): string => `tool-${ref}`

/** Row that opens a tool beside the list and keeps the search. */
export function ToolLink({ tool, isChosen, children }: { tool: string; isChosen: boolean; children: ReactNode }) {
  return (
    <Link
      id={toolLinkId(tool)}
      data-row
      to="/tools"
      search={(before) => ({ ...before, tool })}
      resetScroll={false}
      aria-current={isChosen ? 'true' : undefined}
      className={cn(
        'grid min-h-15 content-center gap-0.5 px-3 py-2 -outline-offset-2 transition-colors hover:bg-sunken sm:px-4',
        isChosen && 'bg-accent-soft hover:bg-accent-soft',
      )}
    >
      {children}
    </Link>
  )
}
