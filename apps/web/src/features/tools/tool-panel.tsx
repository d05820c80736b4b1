/** Tool details beside the list, or as a dialog on narrow screens. */
import { MousePointerClick, X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Empty } from '../../ui/data/empty.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Dialog, DialogContent, DialogHeader } from '../../ui/overlay/dialog.tsx'
import type { ExplainedTool } from './queries.ts'
import type { TestHistory } from './test/use-test-history.ts'
import { ToolDetail, toolTitle } from './tool-detail.tsx'
import { toolLinkId } from './tool-link.tsx'
import type { LocatedTool } from './tool-rows.ts'
import { useWide } from './use-wide.ts'

interface SideProps {
  wanted: string | undefined
  isLoading: boolean
  located: LocatedTool | undefined
  explained: ExplainedTool | undefined
  tries: TestHistory
  onClose: () => void
}

export function ToolSide({ wanted, isLoading, located, explained, tries, onClose }: SideProps) {
  const isWide = useWide()
  const title = located ? toolTitle(located) : (wanted ?? '')
  const where = located ? `${located.toolkit.name} · ${located.tool.ref}` : ''
  const content = located ? (
    <ToolDetail key={wanted} located={located} explained={explained} tries={tries} />
  ) : (
    <Missing isLoading={isLoading} wanted={wanted} />
  )
  // Remembers the last tool, whose row gets the focus after closing.
  const last = useRef(wanted)
  if (wanted !== undefined) last.current = wanted
  const focusRow = () => document.getElementById(toolLinkId(last.current ?? ''))?.focus()
  const back = () => {
    onClose()
    focusRow()
  }
  if (isWide && wanted === undefined)
    return (
      <div className="sticky top-6">
        <Empty icon={MousePointerClick} title="Choose a tool">
          What it takes, what it costs, whether it is on and why, and a try of it stand here.
        </Empty>
      </div>
    )
  if (isWide)
    return (
      <Panel title={title} where={where} onClose={back}>
        {content}
      </Panel>
    )
  return (
    <Dialog open={wanted !== undefined} onOpenChange={(open) => !open && onClose()}>
      <DialogContent keepOpen onClosed={focusRow}>
        <DialogHeader title={title} description={where} />
        <div className="min-h-0 flex-1 overflow-y-auto p-4 sm:p-6">{content}</div>
      </DialogContent>
    </Dialog>
  )
}

interface PanelProps {
  title: string
  where: string
  onClose: () => void
  children: ReactNode
}

function Panel({ title, where, onClose, children }: PanelProps) {
  return (
    <section
      aria-label={title}
      className="sticky top-6 flex max-h-[calc(100dvh-3rem)] min-w-0 flex-col rounded-2xl border bg-surface shadow-flat"
    >
      <header className="flex items-start gap-4 border-b px-5 py-4">
        <div className="grid min-w-0 flex-1 gap-0.5">
          <h2 className="font-semibold tracking-tight wrap-anywhere">{title}</h2>
          <p className="font-mono text-[0.8125rem] wrap-anywhere text-ink-muted">{where}</p>
        </div>
        <Button variant="quiet" size="icon" aria-label="Close the tool" className="-mt-1 -mr-2" onClick={onClose}>
          <X aria-hidden />
        </Button>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-5">{children}</div>
    </section>
  )
}

function Missing({ isLoading, wanted }: { isLoading: boolean; wanted: string | undefined }) {
  if (!isLoading)
    return (
      <p role="status" className="text-sm text-ink-muted">
        There is no tool {wanted}. Its server may have been removed, or it no longer offers it.
      </p>
    )
  return (
    <div role="status" className="grid gap-3">
      <span className="sr-only">Loading the tool</span>
      <Skeleton className="h-4 w-2/3" />
      <Skeleton className="h-4 w-1/2" />
      <Skeleton className="h-32 w-full rounded-lg" />
    </div>
  )
}
