/** Selected tools with reasons and saved tokens, for responses and searches. */
import { ArrowRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Badge } from '../../../ui/data/badge.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { type ChosenTools, type SelectedTool, savedShare } from '../chat/chat-message.ts'

const BY: Record<SelectedTool['by'], string> = {
  always: 'Always sent',
  loaded: 'Loaded before',
  sticky: 'Kept',
  search: 'Found',
}

const number = (value: number) => Math.round(value).toLocaleString('en')

/** Summary such as "4 of 61 tools, 93% fewer tokens". */
export function formatSelectedBy({ tools, deferred, tokens }: ChosenTools): string {
  const saved = Math.round(savedShare(tokens) * 100)
  const count = `${number(tools.length)} of ${counted(tools.length + deferred, 'tool')}`
  return saved > 0 ? `${count}, ${saved}% fewer tokens` : count
}

export function TokenSummary({ tokens }: { tokens: ChosenTools['tokens'] }) {
  const { before, after, exact, tokenizer } = tokens
  const saved = before - after
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-[0.8125rem] text-ink-muted" title={tokenizer}>
      <span className="tabular-nums">
        {exact ? '' : 'about '}
        {counted(before, 'token')} carried
      </span>
      <ArrowRight aria-hidden className="size-3.5" />
      <span className="tabular-nums">{number(after)} sent</span>
      {saved > 0 && (
        <strong className="font-medium text-good tabular-nums">
          {number(saved)} saved ({Math.round(savedShare(tokens) * 100)}%)
        </strong>
      )}
    </p>
  )
}

export function SelectedList({
  chosen,
  actions,
}: {
  chosen: ChosenTools
  actions?: (tool: SelectedTool) => ReactNode
}) {
  return (
    <div className="grid gap-3">
      <TokenSummary tokens={chosen.tokens} />
      {chosen.tools.length === 0 ? (
        <p className="text-sm text-ink-muted">
          Nothing fits. Other words may; or nothing that is switched on here does it.
        </p>
      ) : (
        <ol className="divide-y rounded-lg border bg-raised" aria-label="Chosen tools">
          {chosen.tools.map((tool) => (
            <li key={tool.ref} className="grid gap-1 px-3 py-2">
              <ChosenRow tool={tool} />
              {actions?.(tool)}
            </li>
          ))}
        </ol>
      )}
      {chosen.deferred > 0 && (
        <p className="text-[0.8125rem] text-ink-muted">
          {counted(chosen.deferred, 'more tool')} can be found by the model when it needs them.
        </p>
      )}
      {chosen.dropped.length > 0 && <Dropped dropped={chosen.dropped} />}
      {(chosen.unavailable ?? []).map(({ toolkit, reason }) => (
        <p key={toolkit} className="text-[0.8125rem] wrap-anywhere text-act">
          The tools of <code className="font-mono">{toolkit}</code> are missing: {reason}
        </p>
      ))}
      {chosen.warnings.map((warning) => (
        <p key={warning} className="text-[0.8125rem] wrap-anywhere text-act">
          {warning}
        </p>
      ))}
    </div>
  )
}

function ChosenRow({ tool }: { tool: SelectedTool }) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <code className="min-w-0 font-mono text-[0.8125rem] wrap-anywhere">{tool.ref}</code>
        <Badge>{BY[tool.by]}</Badge>
        <span className="ml-auto flex items-center gap-2 text-xs text-ink-muted tabular-nums">
          {tool.score !== undefined && <Score score={tool.score} />}
          {counted(tool.tokens, 'token')}
        </span>
      </div>
      {tool.reasons.length > 0 && (
        <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">{tool.reasons.join(' · ')}</p>
      )}
    </>
  )
}

function Score({ score }: { score: number }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span aria-hidden className="h-1.5 w-12 overflow-hidden rounded-full bg-line">
        <span className="block h-full rounded-full bg-accent" style={{ width: `${Math.round(score * 100)}%` }} />
      </span>
      <span>
        <span className="sr-only">Score </span>
        {score.toFixed(2)}
      </span>
    </span>
  )
}

function Dropped({ dropped }: { dropped: ChosenTools['dropped'] }) {
  return (
    <details className="text-[0.8125rem] text-ink-muted">
      <summary className="w-fit cursor-pointer rounded-sm">{counted(dropped.length, 'tool')} left out</summary>
      <ul className="mt-1 grid gap-1">
        {dropped.map(({ ref, reason }) => (
          <li key={ref} className="wrap-anywhere">
            <code className="font-mono">{ref}</code>: {reason}
          </li>
        ))}
      </ul>
    </details>
  )
}
