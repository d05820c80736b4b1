/** Past approvals with their outcome. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { toolkitsQuery } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { VisibleText } from '../../ui/data/visible-text.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Segmented } from '../../ui/form/choice.tsx'
import { OutcomeMark } from './approval-outcome.tsx'
import type { FinalStatus } from './approvals-search.ts'
import { type Approval, settledApprovalsQuery } from './queries.ts'
import { toolOf } from './risk.ts'
import { timeAgo } from './time-left.ts'
import { useNow } from './use-now.ts'

type Filter = 'all' | FinalStatus
const FILTERS = [
  { value: 'all', label: 'All' },
  { value: 'allowed', label: 'Allowed' },
  { value: 'denied', label: 'Denied' },
  { value: 'expired', label: 'Expired' },
] as const

const route = getRouteApi('/shell/approvals')

export function ApprovalHistory() {
  const { answered: filter = 'all' } = route.useSearch()
  const navigate = route.useNavigate()
  const setFilter = (next: Filter) =>
    navigate({ search: next === 'all' ? {} : { answered: next }, replace: true, resetScroll: false })
  const query = useInfiniteQuery(settledApprovalsQuery(filter === 'all' ? undefined : filter))
  const approvals = query.data?.pages.flatMap(({ items }) => items).filter(({ status }) => status !== 'pending') ?? []
  return (
    <section aria-labelledby="answered" className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 id="answered" className="font-semibold tracking-tight">
          Answered
        </h2>
        <Segmented label="Show" value={filter} options={FILTERS} onChange={setFilter} />
      </div>
      {query.error && <ProblemNotice error={query.error} />}
      {query.isPending && <LoadingRows />}
      {query.data && approvals.length === 0 && <p className="text-sm text-ink-muted">{emptyText(filter)}</p>}
      {approvals.length > 0 && (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
          {approvals.map((approval) => (
            <HistoryRow key={approval.id} approval={approval} />
          ))}
        </ul>
      )}
      {query.hasNextPage && (
        <Button
          size="small"
          className="w-fit"
          aria-disabled={query.isFetchingNextPage}
          onClick={() => !query.isFetchingNextPage && query.fetchNextPage()}
        >
          {query.isFetchingNextPage ? 'Loading…' : 'Show older ones'}
        </Button>
      )}
    </section>
  )
}

const emptyText = (filter: Filter): string =>
  filter === 'all' ? 'Nothing was asked yet.' : `None of what is listed was ${filter}.`

function HistoryRow({ approval }: { approval: Approval }) {
  const { data: toolkits } = useQuery(toolkitsQuery())
  const tool = toolOf(approval.ref, toolkits)
  const now = useNow(30_000)
  const at = approval.answeredAt ?? approval.expiresAt
  return (
    <li>
      <details className="group">
        <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 -outline-offset-2 hover:bg-sunken sm:px-5">
          <ChevronRight aria-hidden className="size-4 text-ink-muted transition-transform group-open:rotate-90" />
          <span className="min-w-0 flex-1 text-sm wrap-anywhere">
            <span className="font-medium">{tool.title}</span>
            <span className="text-ink-muted"> on {tool.toolkitName}</span>
          </span>
          <OutcomeMark approval={approval} />
          <time dateTime={at} title={new Date(at).toLocaleString('en')} className="text-[0.8125rem] text-ink-muted">
            {timeAgo(at, now)}
          </time>
        </summary>
        <div className="grid gap-2 px-4 pb-4 sm:px-5">
          <p className="text-[0.8125rem] text-ink-muted">{approval.reason}</p>
          <pre className="max-h-64 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[0.8125rem] wrap-anywhere whitespace-pre-wrap">
            <VisibleText text={JSON.stringify(approval.arguments, undefined, 2)} />
          </pre>
        </div>
      </details>
    </li>
  )
}

const LoadingRows = () => (
  <div role="status" className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
    <span className="sr-only">Loading what was answered</span>
    {['w-40', 'w-56', 'w-32'].map((width) => (
      <div key={width} className="px-5 py-4">
        <Skeleton className={`h-4 ${width}`} />
      </div>
    ))}
  </div>
)
