import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { formatDuration } from '../../ui/data/format-time.ts'
import { JsonView } from '../../ui/data/json-view.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { type Chip, StatusChip } from '../threads/chat/status-chip.tsx'
import { type ActivityItem, CALL, formatAction, summaryOf, toActivityItems } from './activity-items.ts'
import { callEntriesQuery } from './queries.ts'

const OUTCOMES: Record<string, { chip: Chip; label: string }> = {
  started: { chip: 'busy', label: 'Started' },
  ok: { chip: 'done', label: 'Done' },
  allowed: { chip: 'done', label: 'Allowed' },
  'tool-error': { chip: 'failed', label: 'The tool failed' },
  failed: { chip: 'failed', label: 'Failed' },
  denied: { chip: 'off', label: 'Denied' },
  expired: { chip: 'off', label: 'Expired' },
  limited: { chip: 'failed', label: 'Limit reached' },
  'sign-in-needed': { chip: 'asked', label: 'Sign-in needed' },
}

/** One activity item; unfolded, it shows all details. */
export function ActivityRow({ item }: { item: ActivityItem }) {
  const [open, setOpen] = useState(false)
  const { at, action, ref, outcome, detail, toolkit } = item
  const duration = typeof detail.durationMs === 'number' ? formatDuration(detail.durationMs) : undefined
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className="group">
        <summary className="flex min-h-11 cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 hover:bg-sunken/60 sm:flex-nowrap sm:px-4 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="size-4 shrink-0 text-ink-faint transition-transform group-open:rotate-90"
          />
          <time
            dateTime={at}
            title={new Date(at).toLocaleString()}
            className="shrink-0 text-xs text-ink-muted tabular-nums sm:w-32"
          >
            {formatMoment(at)}
          </time>
          <span className="flex min-w-0 flex-1 basis-full flex-wrap items-baseline gap-x-2 pl-7 sm:basis-auto sm:pl-0">
            {action === CALL ? (
              <code className="min-w-0 font-mono text-[0.8125rem] wrap-anywhere">{ref}</code>
            ) : (
              <span className="text-sm font-medium">{formatAction(action)}</span>
            )}
            {action !== CALL && <span className="truncate text-[0.8125rem] text-ink-muted">{ref ?? toolkit}</span>}
          </span>
          {duration && <span className="shrink-0 text-xs text-ink-muted tabular-nums">{duration}</span>}
          <span className="flex shrink-0 justify-end sm:w-36">{outcome && <OutcomeChip outcome={outcome} />}</span>
        </summary>
        {open && <ActivityDetail item={item} />}
      </details>
    </li>
  )
}

function OutcomeChip({ outcome }: { outcome: string }) {
  const look = Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome] : undefined
  return <StatusChip chip={look?.chip ?? 'waiting'}>{look?.label ?? outcome}</StatusChip>
}

const formatMoment = (at: string) => {
  const moment = new Date(at)
  const isToday = moment.toDateString() === new Date().toDateString()
  const time = moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return isToday ? time : `${moment.toLocaleDateString([], { month: 'short', day: 'numeric' })}, ${time}`
}

const link = 'font-medium text-accent underline underline-offset-4'

function ActivityDetail({ item }: { item: ActivityItem }) {
  const { callId, threadId, runId, action } = item
  const isCall = action === CALL && callId !== null
  // A filter may have left out one entry of a call.
  const { data: entries, isPending } = useQuery({ ...callEntriesQuery(callId ?? ''), enabled: isCall })
  const whole = entries && isCall ? toActivityItems(entries.filter((entry) => entry.action === CALL))[0] : item
  const { detail } = whole ?? item
  const facts: Array<[string, unknown]> = [
    ['Asked for by', detail.caller],
    ['Decided', detail.decision],
    ['Because', detail.reason],
    ['Error', detail.errorCode],
    ['Arguments', formatBytes(detail.argumentSize)],
    ['Result', formatBytes(detail.resultSize)],
  ]
  return (
    <div className="grid gap-3 border-t bg-surface px-4 py-3 sm:pl-11">
      {isCall && isPending && <Skeleton className="h-16 w-full" />}
      <dl className="flex flex-wrap gap-x-6 gap-y-2 text-[0.8125rem]">
        {facts.map(([label, value]) => typeof value === 'string' && <Fact key={label} label={label} value={value} />)}
        {callId && <Fact label="Call" value={callId} mono />}
        <Fact label="Line" value={item.key} mono />
      </dl>
      {!isCall && <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">{summaryOf(item)}</p>}
      {isCall && detail.arguments !== undefined && (
        <JsonView label="Arguments, without secrets" value={detail.arguments} />
      )}
      {(runId || threadId) && (
        <p className="flex flex-wrap gap-4 text-[0.8125rem]">
          {runId && (
            <Link to="/runs/$id" params={{ id: runId }} className={link}>
              Its run
            </Link>
          )}
          {threadId && (
            <Link to="/threads/$id" params={{ id: threadId }} className={link}>
              Its thread
            </Link>
          )}
        </p>
      )}
    </div>
  )
}

function Fact({ label, value, mono = false }: { label: string; value: string; mono?: boolean }) {
  return (
    <div className="grid min-w-0">
      <dt className="text-xs text-ink-muted">{label}</dt>
      <dd className={mono ? 'font-mono text-xs wrap-anywhere' : 'wrap-anywhere'}>{value}</dd>
    </div>
  )
}

export function formatBytes(bytes: unknown): string | undefined {
  if (typeof bytes !== 'number') return undefined
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
