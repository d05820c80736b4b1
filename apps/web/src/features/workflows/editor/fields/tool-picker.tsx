import { ChevronDown, RefreshCw, Search } from 'lucide-react'
import { useState } from 'react'
import type { Toolkit } from '../../../../lib/api.ts'
import { ProblemNotice } from '../../../../lib/problems.tsx'
import { cn } from '../../../../ui/cn.ts'
import { counted } from '../../../../ui/data/format-time.ts'
import { Skeleton } from '../../../../ui/data/skeleton.tsx'
import { Button } from '../../../../ui/form/button.tsx'
import { Input } from '../../../../ui/form/input.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../../ui/overlay/dialog.tsx'
import { type Tools, useRefreshServerTools, type WorkflowTool } from '../../use-tools.ts'
import { matching } from './matching-tools.ts'
import { ToolChoices } from './tool-choices.tsx'

interface ToolPickerProps {
  tools: Tools
  /** Selected refs. */
  chosen: readonly string[]
  /** Whether several tools can be selected. */
  several?: boolean
  onPick: (refs: string[]) => void
  onClose: () => void
  onClosed: () => void
}

/** Dialog to select tools by server. */
export function ToolPicker({ tools, chosen, several = false, onPick, onClose, onClosed }: ToolPickerProps) {
  const [query, setQuery] = useState('')
  const [picked, setPicked] = useState<readonly string[]>(chosen)
  const pick = (ref: string) => {
    if (!several) return onPick([ref])
    setPicked((old) => (old.includes(ref) ? old.filter((item) => item !== ref) : [...old, ref]))
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
            <Group
              key={`${toolkit.uscoId} ${query !== ''}`}
              toolkit={toolkit}
              found={found}
              picked={picked}
              several={several}
              onPick={pick}
            />
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
  found: readonly WorkflowTool[]
  picked: readonly string[]
  several: boolean
  onPick: (ref: string) => void
}

function Group({ toolkit, found, picked, several, onPick }: GroupProps) {
  const [isOpen, setOpen] = useState(true)
  const refresh = useRefreshServerTools()
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
      <div id={id} hidden={!isOpen} className="border-t">
        {isOpen && <ToolChoices tools={found} picked={picked} several={several} onPick={onPick} />}
      </div>
    </section>
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
