import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Card } from '../../ui/data/card.tsx'
import { formatAgo, formatDuration } from '../../ui/data/format-time.ts'
import { Meter } from '../../ui/data/meter.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Segmented } from '../../ui/form/choice.tsx'
import { formatBytes } from './activity-row.tsx'
import { type ActivitySearch, RANGES, type Range, rangeOf } from './activity-search.ts'
import { ChartCard } from './chart-card.tsx'
import {
  CALLS_SERIES,
  CallsChart,
  DURATION_SERIES,
  DurationChart,
  SizeChart,
  TOOLS_SERIES,
  ToolsChart,
} from './charts.tsx'
import { historyQuery, type Usage, type UsageHistory, usageQuery } from './queries.ts'

const RANGE_LABELS: Record<Range, string> = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' }

interface UsageTabProps {
  search: ActivitySearch
  onSearch: (changed: ActivitySearch) => void
}

export function UsageTab({ search, onSearch }: UsageTabProps) {
  const range = rangeOf(search.range, '24h')
  const { data: history, error } = useQuery(historyQuery(range))
  const { data: usage } = useQuery(usageQuery())
  return (
    <div className="grid gap-5">
      <div>
        <Segmented
          label="Time"
          value={range}
          options={RANGES.map((value) => ({ value, label: RANGE_LABELS[value] }))}
          onChange={(next) => onSearch({ range: next })}
        />
      </div>
      {error && <ProblemNotice error={error} />}
      {usage ? <Limits usage={usage} /> : !error && <Skeleton className="h-40.5 w-full rounded-2xl sm:h-22.5" />}
      {!history && !error && <LoadingUsage />}
      {history && <Totals total={history.total} />}
      {history && !history.complete && (
        <p className="text-sm text-ink-muted">There were more calls than are counted here: these are the newest.</p>
      )}
      {history && <Charts history={history} range={range} />}
    </div>
  )
}

/** As high as the loaded content, so that the layout does not shift. */
function LoadingUsage() {
  return (
    <div role="status" className="grid gap-5">
      <span className="sr-only">Counting calls</span>
      <Skeleton className="h-51.5 w-full rounded-2xl sm:h-34.5 lg:h-17.5" />
      <div className="grid gap-5 lg:grid-cols-2">
        {['calls', 'durations', 'tools', 'sizes'].map((chart) => (
          <Skeleton key={chart} className="h-74 w-full rounded-2xl sm:h-76" />
        ))}
      </div>
    </div>
  )
}

function Limits({ usage: { callsThisHour, tokensToday } }: { usage: Usage }) {
  const resets = (at: string) => `Resets ${formatAgo(new Date(at), new Date())}.`
  return (
    <Card className="grid gap-6 p-5 sm:grid-cols-2" aria-label="Limits">
      <Meter label="Calls this hour" used={callsThisHour.used} limit={callsThisHour.limit}>
        {resets(callsThisHour.resetsAt)}
      </Meter>
      <Meter label="Tokens today" used={tokensToday.used} limit={tokensToday.limit}>
        {resets(tokensToday.resetsAt)}
      </Meter>
    </Card>
  )
}

function Totals({ total }: { total: UsageHistory['total'] }) {
  const share = total.calls === 0 ? 0 : (total.errors / total.calls) * 100
  const facts: Array<[string, ReactNode]> = [
    ['Calls', total.calls.toLocaleString('en')],
    ['Errors', `${total.errors.toLocaleString('en')} (${share.toFixed(share < 10 ? 1 : 0)}%)`],
    ['Refused', total.refused.toLocaleString('en')],
    ['Half within', total.p50 === undefined ? '–' : formatDuration(total.p50)],
    ['95% within', total.p95 === undefined ? '–' : formatDuration(total.p95)],
    ['Results', formatBytes(total.resultBytes)],
  ]
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-2xl border bg-line shadow-flat sm:grid-cols-3 lg:grid-cols-6">
      {facts.map(([label, value]) => (
        <div key={label} className="grid gap-0.5 bg-surface px-4 py-3">
          <dt className="text-xs text-ink-muted">{label}</dt>
          <dd className="text-lg font-semibold tracking-tight tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Charts({ history, range }: { history: UsageHistory; range: Range }) {
  const rows = history.buckets.map((bucket) => ({ ...bucket, time: formatBucketTime(bucket.at, range) }))
  const ms = (value: number | undefined) => (value === undefined ? '–' : formatDuration(value))
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <ChartCard
        title="Calls"
        series={CALLS_SERIES}
        head={['Time', 'Calls', 'Errors', 'Refused']}
        rows={rows.map(({ time, calls, errors, refused }) => [time, calls, errors, refused])}
      >
        <CallsChart rows={rows} />
      </ChartCard>
      <ChartCard
        title="How long they took"
        series={DURATION_SERIES}
        head={['Time', 'Half within', '95% within']}
        rows={rows.map(({ time, p50, p95 }) => [time, ms(p50), ms(p95)])}
      >
        <DurationChart rows={rows} />
      </ChartCard>
      <ChartCard
        title="Tools called most"
        series={TOOLS_SERIES}
        head={['Name', 'Calls', 'Errors', 'Half within', '95% within']}
        rows={history.tools.map(({ ref, calls, errors, p50, p95 }) => [ref, calls, errors, ms(p50), ms(p95)])}
      >
        <ToolsChart tools={history.tools} />
      </ChartCard>
      <ChartCard
        title="Size of results"
        head={['Time', 'Results']}
        rows={rows.map(({ time, resultBytes }) => [time, formatBytes(resultBytes) ?? ''])}
      >
        <SizeChart rows={rows} />
      </ChartCard>
    </div>
  )
}

function formatBucketTime(at: string, range: Range): string {
  const moment = new Date(at)
  if (range === '30d') return moment.toLocaleDateString([], { month: 'short', day: 'numeric' })
  const time = moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  return range === '7d' ? `${moment.toLocaleDateString([], { weekday: 'short' })} ${time}` : time
}
