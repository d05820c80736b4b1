import { Check, FileDiff } from 'lucide-react'
import type { Toolkit } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { VisibleText } from '../../../ui/data/visible-text.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { ScrollRegion } from '../../../ui/layout/scroll-region.tsx'
import { useAccept } from '../use-tools.ts'
import { type DiffLine, diffLines, nearChanges } from './line-diff.ts'
import { useReviewFocus } from './review.ts'

type Tool = Toolkit['tools'][number]

const LABELS: Record<string, string> = {
  title: 'Title',
  description: 'Description',
  inputSchema: 'What it takes',
  outputSchema: 'What it gives',
  annotations: 'Claims',
}

/** Difference between the accepted and the current tool, with the accept button. */
export function ToolChange({ toolkit, tool }: { toolkit: Toolkit; tool: Tool }) {
  const accept = useAccept()
  const button = useReviewFocus(toolkit, tool.name)
  const minor = tool.minorChange
  if (!tool.changed && !tool.held)
    return minor?.from && minor.to ? <MinorChange from={minor.from} to={minor.to} /> : null
  const { from, to } = tool.changed ?? {}
  // Accept is disabled until both versions are visible.
  const isReady = !accept.isPending && (!tool.changed || to !== undefined)
  return (
    <div className="grid gap-3 rounded-xl border border-act/30 bg-act-soft/40 p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="flex items-center gap-2 text-sm font-medium text-act">
          <FileDiff aria-hidden className="size-4 shrink-0" />
          {tool.changed ? 'Changed since you accepted it. It is not called until you accept the change.' : tool.held}
        </p>
        <Button
          ref={button}
          size="small"
          variant="primary"
          aria-label={`Accept ${tool.name}`}
          aria-disabled={!isReady}
          onClick={() => isReady && accept.mutate({ toolkit, tool })}
        >
          <Check aria-hidden /> {accept.isPending ? 'Accepting…' : 'Accept'}
        </Button>
      </div>
      {from && to && <Differences from={from} to={to} />}
    </div>
  )
}

interface Versions {
  from: Record<string, unknown>
  to: Record<string, unknown>
}

/** A change that needs no review, folded. */
function MinorChange(change: Versions) {
  return (
    <details className="rounded-xl border p-3 text-sm text-ink-muted">
      <summary className="cursor-pointer">Order, defaults or white space changed. The tool stays in use.</summary>
      <div className="mt-3 grid gap-3">
        <Differences {...change} />
      </div>
    </details>
  )
}

function Differences({ from, to }: Versions) {
  const fields = [...new Set([...Object.keys(LABELS), ...Object.keys(from), ...Object.keys(to)])].filter(
    (field) => textOf(from[field]) !== textOf(to[field]),
  )
  return fields.map((field) => (
    <section key={field} className="grid min-w-0 gap-1" aria-label={`${LABELS[field] ?? field}, before and now`}>
      <h4 className="text-xs font-medium text-ink-muted">{LABELS[field] ?? field}</h4>
      <DiffText lines={nearChanges(diffLines(textOf(from[field]), textOf(to[field])))} />
    </section>
  ))
}

const LOOKS: Record<DiffLine['kind'], { sign: string; prefix: string; className: string }> = {
  same: { sign: ' ', prefix: '', className: 'text-ink-muted' },
  gone: { sign: '−', prefix: 'Before: ', className: 'bg-bad-soft text-bad' },
  new: { sign: '+', prefix: 'Now: ', className: 'bg-good-soft text-good' },
}

function DiffText({ lines }: { lines: ReadonlyArray<DiffLine | 'gap'> }) {
  return (
    <ScrollRegion
      label="Before and now"
      className="max-h-80 overflow-auto rounded-lg border bg-raised py-1 font-mono text-xs"
    >
      {lines.map((line, index) =>
        line === 'gap' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place
          <div key={index} className="px-2 text-ink-faint">
            ⋯
          </div>
        ) : (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place
            key={index}
            className={cn(
              'flex gap-2 px-2 leading-relaxed whitespace-pre-wrap wrap-anywhere',
              LOOKS[line.kind].className,
            )}
          >
            <span aria-hidden className="select-none">
              {LOOKS[line.kind].sign}
            </span>
            <span className="min-w-0">
              <span className="sr-only">{LOOKS[line.kind].prefix}</span>
              <VisibleText text={line.text} />
            </span>
          </div>
        ),
      )}
    </ScrollRegion>
  )
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}
