import type { InferResponseType } from 'hono/client'
import { CircleCheck, CircleX, Hand, type LucideIcon, ShieldCheck } from 'lucide-react'
import type { client } from '../../lib/api.ts'
import { cn } from '../../ui/cn.ts'
import { formatDuration } from '../../ui/data/format-time.ts'
import { VisibleText } from '../../ui/data/visible-text.tsx'
import { Button } from '../../ui/form/button.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'

export type Trial = InferResponseType<(typeof client.api.mcp.config.try)['$post'], 200>

const LOOKS: Record<Trial['status'], { icon: LucideIcon; label: string; className: string }> = {
  ok: { icon: CircleCheck, label: 'It worked', className: 'text-good' },
  'tool-error': { icon: CircleX, label: 'The tool failed', className: 'text-bad' },
  'approval-needed': { icon: Hand, label: 'Who calls it is asked first', className: 'text-act' },
  denied: { icon: CircleX, label: 'A rule denies it', className: 'text-bad' },
  limited: { icon: CircleX, label: 'A limit is reached', className: 'text-bad' },
  'sign-in-needed': { icon: Hand, label: 'A sign-in is needed', className: 'text-act' },
  failed: { icon: CircleX, label: 'It failed', className: 'text-bad' },
}

export function TryOutcome({ trial, onAllow }: { trial: Trial; onAllow: () => void }) {
  const { icon: Icon, label, className } = LOOKS[trial.status]
  const result = resultOf(trial)
  return (
    <section aria-label="What came of it" className="grid min-w-0 gap-3 border-t pt-4">
      <p role="status" className={cn('flex items-center gap-2 text-sm font-medium', className)}>
        <Icon aria-hidden className="size-4 shrink-0" />
        {label}
        <span className="font-normal text-ink-muted tabular-nums">{formatDuration(trial.durationMs)}</span>
      </p>
      {trial.error && (
        <p className="text-sm wrap-anywhere">
          {trial.error.detail} <span className="text-ink-muted">{trial.error.action}</span>
        </p>
      )}
      {trial.status === 'approval-needed' && (
        <div>
          <Button size="small" onClick={onAllow}>
            <ShieldCheck aria-hidden /> Allow this one call
          </Button>
        </div>
      )}
      {result !== '' && <Block label="Result" text={result} />}
      {trial.logs.length > 0 && (
        <Block
          label="Log"
          text={trial.logs.map(({ level, text }) => `${level === 'log' ? '' : `${level}: `}${text}`).join('\n')}
        />
      )}
      {trial.warnings.map((warning) => (
        <p key={warning} className="text-[0.8125rem] wrap-anywhere text-ink-muted">
          {warning}.
        </p>
      ))}
    </section>
  )
}

function Block({ label, text }: { label: string; text: string }) {
  return (
    <div className="grid min-w-0 gap-1">
      <h3 className="text-xs font-medium text-ink-muted">{label}</h3>
      <ScrollRegion label={label} className="max-h-80 overflow-auto rounded-lg border bg-sunken/60 p-3">
        <pre className="font-mono text-xs leading-relaxed whitespace-pre-wrap wrap-anywhere">
          <VisibleText text={text} />
        </pre>
      </ScrollRegion>
    </div>
  )
}

/** Structured content if present, otherwise texts and other blocks as JSON. */
function resultOf({ structuredContent, content = [] }: Trial): string {
  if (structuredContent !== undefined) return JSON.stringify(structuredContent, undefined, 2)
  return content
    .map((block) =>
      block.type === 'text' && typeof block.text === 'string' ? block.text : JSON.stringify(block, undefined, 2),
    )
    .join('\n')
}
