/** Selectable tools of one server, virtualized above 60 rows. */
import { useState } from 'react'
import { cn } from '../../../../ui/cn.ts'
import { Badge } from '../../../../ui/data/badge.tsx'
import { LongList } from '../../../../ui/data/long-list.tsx'
import { AnnotationBadges } from '../../../tools/tool-badges.tsx'
import type { WorkflowTool } from '../../use-tools.ts'

const DRAWN_WHOLE = 60
const ROW_PX = 60

interface ToolChoicesProps {
  tools: readonly WorkflowTool[]
  picked: readonly string[]
  several: boolean
  onPick: (ref: string) => void
}

export function ToolChoices({ tools, picked, several, onPick }: ToolChoicesProps) {
  const choice = (tool: WorkflowTool) => (
    <ToolChoice tool={tool} isPicked={picked.includes(tool.ref)} several={several} onPick={onPick} />
  )
  // Scrolls once to the selected tool.
  const [first] = useState(() => tools.findIndex(({ ref }) => ref === picked[0]))
  if (tools.length > DRAWN_WHOLE)
    return (
      <LongList
        items={tools}
        noun="tool"
        keyOf={({ ref }) => ref}
        rowPx={ROW_PX}
        wanted={{ index: first, align: 'center' }}
        className="max-h-[22rem] rounded-b-xl low:max-h-[70dvh]"
        rows="divide-y"
      >
        {(tool, key, position) => (
          <li key={key} {...position}>
            {choice(tool)}
          </li>
        )}
      </LongList>
    )
  return (
    <ul className="divide-y">
      {tools.map((tool) => (
        <li key={tool.ref}>{choice(tool)}</li>
      ))}
      {tools.length === 0 && <li className="px-3 py-2 text-sm text-ink-muted">No tools known yet. Refresh to look.</li>}
    </ul>
  )
}

interface ToolChoiceProps {
  tool: WorkflowTool
  isPicked: boolean
  several: boolean
  onPick: (ref: string) => void
}

function ToolChoice({ tool, isPicked, several, onPick }: ToolChoiceProps) {
  return (
    <button
      type="button"
      {...(several
        ? { role: 'checkbox', 'aria-checked': isPicked }
        : { 'aria-current': isPicked ? 'true' : undefined })}
      aria-label={tool.name}
      onClick={() => onPick(tool.ref)}
      className={cn(
        'grid w-full gap-1 px-3 py-2 text-left transition-colors hover:bg-sunken focus-visible:outline-offset-[-2px]',
        isPicked && 'bg-accent-soft',
      )}
    >
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-mono text-[0.8125rem] font-medium wrap-anywhere">{tool.name}</span>
        <AnnotationBadges tool={tool} short />
        {!tool.enabled && <Badge>Off</Badge>}
      </span>
      {tool.description && <span className="line-clamp-2 text-[0.8125rem] text-ink-muted">{tool.description}</span>}
    </button>
  )
}
