/** The tools of one server to choose from. Beyond some dozens only those are drawn that are in sight. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { cn } from '../../ui/cn.ts'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { counted } from '../../ui/time-words.ts'
import { AnnotationBadges } from '../tools/tool-badges.tsx'
import type { Tool } from './use-tools.ts'

const DRAWN_WHOLE = 60
const ROW_PX = 60

interface ToolChoicesProps {
  tools: readonly Tool[]
  picked: readonly string[]
  several: boolean
  onPick: (ref: string) => void
}

export function ToolChoices({ tools, picked, several, onPick }: ToolChoicesProps) {
  const choice = (tool: Tool) => (
    <ToolChoice tool={tool} isPicked={picked.includes(tool.ref)} several={several} onPick={onPick} />
  )
  if (tools.length > DRAWN_WHOLE) return <LongList tools={tools} first={picked[0]} choice={choice} />
  return (
    <ul className="divide-y">
      {tools.map((tool) => (
        <li key={tool.ref}>{choice(tool)}</li>
      ))}
      {tools.length === 0 && <li className="px-3 py-2 text-sm text-ink-muted">No tools known yet. Refresh to look.</li>}
    </ul>
  )
}

interface LongListProps {
  tools: readonly Tool[]
  /** What is in sight at the beginning. */
  first: string | undefined
  choice: (tool: Tool) => React.ReactNode
}

function LongList({ tools, first, choice }: LongListProps) {
  const place = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: tools.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => tools[index]?.ref ?? index,
    overscan: 6,
  })
  const start = useRef(tools.findIndex(({ ref }) => ref === first))
  useLayoutEffect(() => {
    if (start.current > 0) list.scrollToIndex(start.current, { align: 'center' })
  }, [list])
  const drawn = list.getVirtualItems()
  return (
    <ScrollRegion
      ref={place}
      label={`${counted(tools.length, 'tool')}, scrolling`}
      className="max-h-[22rem] low:max-h-[70dvh] overflow-y-auto rounded-b-xl"
    >
      <div style={{ height: list.getTotalSize() }} className="relative">
        <ul
          className="absolute inset-x-0 top-0 divide-y"
          style={{ transform: `translateY(${drawn[0]?.start ?? 0}px)` }}
        >
          {drawn.map(({ index, key }) => {
            const tool = tools[index]
            if (!tool) return null
            return (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                aria-setsize={tools.length}
                aria-posinset={index + 1}
              >
                {choice(tool)}
              </li>
            )
          })}
        </ul>
      </div>
    </ScrollRegion>
  )
}

interface ToolChoiceProps {
  tool: Tool
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
