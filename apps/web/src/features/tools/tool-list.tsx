/** All tools by server, virtualized for thousands of rows. */
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Toolkit } from '../../lib/api.ts'
import { cn } from '../../ui/cn.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { StateBadge } from '../servers/list/toolkit-state.tsx'
import { ToolBadges } from '../servers/tools/tool-badges.tsx'
import type { ExplainedTool } from './queries.ts'
import { ToolLink } from './tool-link.tsx'
import { type ToolRow, toolRows } from './tool-rows.ts'

interface ToolListProps {
  toolkits: readonly Toolkit[]
  explained: ReadonlyMap<string, ExplainedTool> | undefined
  chosen: string | undefined
}

const HEAD_HEIGHT = 48
const TOOL_HEIGHT = 60

export function ToolList({ toolkits, explained, chosen }: ToolListProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const rows = toolRows(toolkits, closed)
  const list = useRef<HTMLUListElement>(null)
  const [scrollMargin, setScrollMargin] = useState(0)
  // The opened row stays rendered, so that the focus can return to it.
  const opened = useRef(chosen)
  if (chosen !== undefined) opened.current = chosen
  const openedIndex = rows.findIndex(({ key }) => key === opened.current)
  useLayoutEffect(() => setScrollMargin(list.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => (rows[index]?.kind === 'toolkit' ? HEAD_HEIGHT : TOOL_HEIGHT),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 12,
    rangeExtractor: (range) => {
      const seen = defaultRangeExtractor(range)
      return openedIndex < 0 || seen.includes(openedIndex) ? seen : [...seen, openedIndex].sort((a, b) => a - b)
    },
    scrollMargin,
  })
  // Scrolls once to the tool in the URL.
  const isPlaced = useRef(chosen === undefined)
  useEffect(() => {
    if (isPlaced.current || openedIndex < 0 || scrollMargin === 0) return
    isPlaced.current = true
    virtual.scrollToIndex(openedIndex, { align: 'center' })
  }, [openedIndex, scrollMargin, virtual])
  const toggle = (uscoId: string) => {
    const next = new Set(closed)
    if (!next.delete(uscoId)) next.add(uscoId)
    setClosed(next)
  }
  return (
    <ul
      ref={list}
      aria-label="Tools by server"
      onKeyDown={byArrows}
      className="relative overflow-hidden rounded-xl border bg-surface shadow-flat"
      style={{ height: virtual.getTotalSize() + 2 }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index]
        if (!row) return null
        return (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            className={cn('absolute inset-x-0 top-0', index > 0 && 'border-t')}
            style={{ transform: `translateY(${start - scrollMargin}px)` }}
          >
            {row.kind === 'toolkit' ? (
              <Head row={row} tokens={tokensOf(row.toolkit, explained)} onToggle={() => toggle(row.toolkit.uscoId)} />
            ) : (
              <ToolRowLink row={row} explained={explained?.get(row.tool.ref)} isChosen={chosen === row.tool.ref} />
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Arrow keys move between rows. */
function byArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')].sort(
    (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
  )
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = rows[at + step]
  if (at < 0 || !next) return
  event.preventDefault()
  next.focus()
}

const needsBadge = ({ state, server }: Toolkit) =>
  state.status !== 'connected' && !(server.type === 'custom' && state.status === 'disconnected')

const tokensOf = ({ tools }: Toolkit, explained: ToolListProps['explained']): number =>
  tools.reduce((sum, { ref }) => sum + (explained?.get(ref)?.tokens ?? 0), 0)

interface HeadProps {
  row: Extract<ToolRow, { kind: 'toolkit' }>
  tokens: number
  onToggle: () => void
}

function Head({ row: { toolkit, count, isOpen }, tokens, onToggle }: HeadProps) {
  return (
    <h2 className="flex bg-sunken text-sm">
      <button
        type="button"
        data-row
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex min-h-12 min-w-0 flex-1 items-center gap-2 px-3 text-left font-semibold -outline-offset-2 sm:px-4"
      >
        <ChevronRight
          aria-hidden
          className={cn('size-4 shrink-0 text-ink-muted transition-transform', isOpen && 'rotate-90')}
        />
        <span className="truncate">{toolkit.name}</span>
        {toolkit.options.account && (
          <span className="truncate font-normal text-ink-muted">{toolkit.options.account}</span>
        )}
        <span className="ml-auto shrink-0 font-normal text-ink-muted tabular-nums">
          {count.toLocaleString('en')} {count === 1 ? 'tool' : 'tools'}
          {tokens > 0 && <span className="hidden sm:inline"> · {tokens.toLocaleString('en')} tokens</span>}
        </span>
        {needsBadge(toolkit) && <StateBadge {...toolkit} />}
      </button>
    </h2>
  )
}

interface RowProps {
  row: Extract<ToolRow, { kind: 'tool' }>
  explained: ExplainedTool | undefined
  isChosen: boolean
}

function ToolRowLink({ row: { tool }, explained, isChosen }: RowProps) {
  const isOff = explained ? !explained.included : !tool.enabled
  return (
    <ToolLink tool={tool.ref} isChosen={isChosen}>
      <span className="flex min-w-0 items-center gap-2">
        <span className={cn('truncate font-mono text-[0.8125rem]', isOff ? 'text-ink-muted' : 'font-medium')}>
          {tool.name}
        </span>
        <ToolBadges annotations={tool.annotations} short />
        <span className="ml-auto flex shrink-0 items-center gap-2">
          {tool.changed && <Badge className="border-transparent bg-act-soft text-act">Changed</Badge>}
          {tool.held && <Badge className="border-transparent bg-act-soft text-act">New</Badge>}
          {isOff && !tool.changed && !tool.held && <Badge>Off</Badge>}
          {explained && <span className="text-xs text-ink-muted tabular-nums">{explained.tokens}</span>}
        </span>
      </span>
      <span className="block truncate text-[0.8125rem] text-ink-muted">
        {tool.description?.split('\n')[0] || 'It has no description.'}
      </span>
    </ToolLink>
  )
}
