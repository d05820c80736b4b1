import { ChevronDown, RefreshCw, Search } from 'lucide-react'
import { useState } from 'react'
import type { Toolkit } from '../../api.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../ui/dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { counted } from '../../ui/time-words.ts'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { hintsOf, matching } from './matching-tools.ts'
import { type Tool, type Tools, useRefreshTools } from './use-tools.ts'

interface ToolPickerProps {
  tools: Tools
  /** Refs that are chosen already. */
  chosen: readonly string[]
  /** Whether several can be chosen. */
  several?: boolean
  onPick: (refs: string[]) => void
  onClose: () => void
  onClosed: () => void
}

/** Tools by their servers: each can be chosen by itself. */
export function ToolPicker({ tools, chosen, several = false, onPick, onClose, onClosed }: ToolPickerProps) {
  const [query, setQuery] = useState('')
  const [picked, setPicked] = useState<readonly string[]>(chosen)
  const pick = (ref: string) => {
    if (!several) return onPick([ref])
    setPicked((old) => (old.includes(ref) ? old.filter((one) => one !== ref) : [...old, ref]))
  }
  const groups = matching(tools.toolkits, query)
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader
          title={several ? 'Choose tools' : 'Choose a tool'}
          description="From your servers and the global ones, one by one."
        />
        <div className="border-b px-4 py-3 sm:px-6">
          <div className="relative">
            <Search aria-hidden className="absolute top-2.5 left-3 size-4 text-ink-faint" />
            <Input
              type="search"
              aria-label="Search tools"
              placeholder="Search by name or words"
              value={query}
              onChange={(event) => setQuery(event.target.value)}
              className="pl-9"
            />
          </div>
        </div>
        <div className="grid min-h-0 flex-1 content-start gap-3 overflow-y-auto px-4 py-4 sm:px-6">
          {tools.error && <ProblemNotice error={tools.error} />}
          {tools.isLoading && <Loading />}
          {!tools.isLoading && groups.length === 0 && <Nothing query={query} />}
          {groups.map(({ toolkit, found }) => (
            <Group key={`${toolkit.uscoId} ${query !== ''}`} {...{ toolkit, found, picked, several, onPick: pick }} />
          ))}
        </div>
        {several && (
          <DialogFooter>
            <span className="mr-auto self-center text-sm text-ink-muted">{counted(picked.length, 'tool')} chosen</span>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" onClick={() => onPick([...picked])}>
              Use them
            </Button>
          </DialogFooter>
        )}
      </DialogContent>
    </Dialog>
  )
}

interface GroupProps {
  toolkit: Toolkit
  found: readonly Tool[]
  picked: readonly string[]
  several: boolean
  onPick: (ref: string) => void
}

function Group({ toolkit, found, picked, several, onPick }: GroupProps) {
  const [isOpen, setOpen] = useState(true)
  const refresh = useRefreshTools()
  const id = `tools-of-${toolkit.uscoId}`
  return (
    <section aria-label={toolkit.name} className="rounded-xl border">
      <div className="flex items-center gap-2 py-1 pr-1.5 pl-3">
        <h3 className="min-w-0 flex-1">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
            className="flex h-8 w-full min-w-0 items-center gap-2 text-left text-sm font-semibold"
          >
            <ChevronDown aria-hidden className={cn('size-4 shrink-0 transition-transform', !isOpen && '-rotate-90')} />
            <span className="truncate">{toolkit.name}</span>
            <span className="shrink-0 text-xs font-normal text-ink-faint">{counted(found.length, 'tool')}</span>
          </button>
        </h3>
        <Button
          variant="quiet"
          size="small"
          aria-label={`Refresh tools of ${toolkit.name}`}
          aria-disabled={refresh.isPending}
          onClick={() => !refresh.isPending && refresh.mutate(toolkit)}
        >
          <RefreshCw aria-hidden className={cn(refresh.isPending && 'motion-safe:animate-spin')} />
          {refresh.isPending ? 'Refreshing…' : 'Refresh tools'}
        </Button>
      </div>
      {toolkit.state.reason && toolkit.state.status === 'error' && (
        <p className="px-3 pb-2 text-[0.8125rem] wrap-anywhere text-bad">{toolkit.state.reason}</p>
      )}
      <ul id={id} hidden={!isOpen} className="divide-y border-t">
        {found.map((tool) => (
          <li key={tool.ref}>
            <ToolChoice tool={tool} isPicked={picked.includes(tool.ref)} several={several} onPick={onPick} />
          </li>
        ))}
        {found.length === 0 && (
          <li className="px-3 py-2 text-sm text-ink-muted">No tools known yet. Refresh to look.</li>
        )}
      </ul>
    </section>
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
        {hintsOf(tool).map((hint) => (
          <Badge key={hint}>{hint}</Badge>
        ))}
        {!tool.enabled && <Badge>off</Badge>}
      </span>
      {tool.description && <span className="line-clamp-2 text-[0.8125rem] text-ink-muted">{tool.description}</span>}
    </button>
  )
}

function Nothing({ query }: { query: string }) {
  return (
    <p className="text-sm text-ink-muted">
      {query === ''
        ? 'There are no servers yet. Add one under MCP servers.'
        : `No tool has “${query}” in its name or description.`}
    </p>
  )
}

function Loading() {
  return (
    <div role="status" className="grid gap-2">
      <span className="sr-only">Loading tools</span>
      <Skeleton className="h-24 w-full rounded-xl" />
      <Skeleton className="h-24 w-full rounded-xl" />
    </div>
  )
}
