import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import type { RowActions } from './row-actions.ts'
import { ToolkitRow } from './toolkit-row.tsx'

interface SectionProps {
  id: string
  title: string
  note?: string
  count?: number | undefined
  children: ReactNode
}

export function ListSection({ id, title, note, count, children }: SectionProps) {
  return (
    <section aria-labelledby={id} className="grid gap-3">
      <div className="grid gap-0.5">
        <h2 id={id} tabIndex={-1} className="flex items-baseline gap-2 font-semibold tracking-tight focus:outline-none">
          {title}
          {count !== undefined && count > 0 && (
            <span className="text-sm font-normal text-ink-faint tabular-nums">{count}</span>
          )}
        </h2>
        {note && <p className="text-sm text-ink-muted">{note}</p>}
      </div>
      {children}
    </section>
  )
}

const card = 'divide-y overflow-hidden rounded-xl border bg-surface shadow-flat'

/** Servers selected for a bulk action. */
export interface Selected {
  uscoIds: ReadonlySet<string>
  onSelect: (uscoId: string, isSelected: boolean) => void
}

interface ToolkitListProps {
  toolkits: readonly Toolkit[]
  open: string | undefined
  actions: RowActions
  selected?: Selected | undefined
}

/** Longer lists are virtualized. */
const DRAWN_WHOLE = 30
const ROW_PX = 116

export function ToolkitList(props: ToolkitListProps) {
  return props.toolkits.length > DRAWN_WHOLE ? (
    <ManyToolkits {...props} />
  ) : (
    <ul className={card}>
      {props.toolkits.map((toolkit) => (
        <ToolkitRow key={toolkit.uscoId} {...rowOf(toolkit, props)} />
      ))}
    </ul>
  )
}

const isOpen = ({ uscoId, id }: Toolkit, open: string | undefined) => open === uscoId || open === id

function rowOf(toolkit: Toolkit, { open, actions, selected }: ToolkitListProps) {
  const { uscoId } = toolkit
  return {
    toolkit,
    open: isOpen(toolkit, open),
    actions,
    selection: selected && {
      isSelected: selected.uscoIds.has(uscoId),
      onSelect: (next: boolean) => selected.onSelect(uscoId, next),
    },
  }
}

/** Virtualized list that scrolls with the page. The open row stays rendered, so that its input is not lost. */
function ManyToolkits(props: ToolkitListProps) {
  const { toolkits, open } = props
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  const opened = toolkits.findIndex((toolkit) => isOpen(toolkit, open))
  const rows = useWindowVirtualizer({
    count: toolkits.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => toolkits[index]?.uscoId ?? index,
    overscan: 6,
    scrollMargin: top,
    rangeExtractor: (range) => {
      const drawn = defaultRangeExtractor(range)
      return opened < 0 || drawn.includes(opened) ? drawn : [...drawn, opened].sort((a, b) => a - b)
    },
  })
  useLayoutEffect(() => {
    const now = Math.round((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
    if (now !== top) setTop(now)
  })
  // Scrolls to a row that was opened from another element.
  useLayoutEffect(() => {
    if (opened >= 0 && document.activeElement === document.body) rows.scrollToIndex(opened, { align: 'start' })
  }, [rows, opened])
  return (
    <ul ref={list} className={cn(card, 'relative divide-y-0')} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ index, start }) => {
        const toolkit = toolkits[index]
        if (!toolkit) return null
        const position = {
          ref: rows.measureElement,
          'data-index': index,
          'aria-setsize': toolkits.length,
          'aria-posinset': index + 1,
          style: { transform: `translateY(${start - top}px)` },
          className: 'absolute inset-x-0 top-0 min-w-0 border-b',
        }
        return <ToolkitRow key={toolkit.uscoId} {...rowOf(toolkit, props)} position={position} />
      })}
    </ul>
  )
}

export function LoadingList() {
  return (
    <div role="status" className={card}>
      <span className="sr-only">Loading your servers</span>
      {['w-32', 'w-44', 'w-24'].map((width) => (
        <div key={width} className="flex items-start gap-4 p-4 sm:px-5">
          <Skeleton className="hidden size-9 rounded-lg sm:block" />
          <div className="grid flex-1 gap-2.5 py-2">
            <Skeleton className={`h-4 ${width}`} />
            <Skeleton className="h-3.5 w-3/5" />
          </div>
          <Skeleton className="mt-1.5 h-6 w-10 rounded-full" />
        </div>
      ))}
    </div>
  )
}
