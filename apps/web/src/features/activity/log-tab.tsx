import { useInfiniteQuery } from '@tanstack/react-query'
import { Activity, Download } from 'lucide-react'
import { useState } from 'react'
import { BASE_PATH } from '../../lib/base-path.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Empty } from '../../ui/data/empty.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Button } from '../../ui/form/button.tsx'
import { SwitchField } from '../../ui/form/switch-field.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/overlay/menu.tsx'
import { toActivityItems } from './activity-items.ts'
import { ActivityRow } from './activity-row.tsx'
import { type ActivitySearch, auditQuery, hasFilters } from './activity-search.ts'
import { Filters } from './filters.tsx'
import { type LogPage, logQuery, MAX_ENTRIES, PAGE } from './queries.ts'

const card = 'divide-y overflow-hidden rounded-xl border bg-surface shadow-flat'

interface LogTabProps {
  search: ActivitySearch
  onSearch: (changed: ActivitySearch) => void
}

export function LogTab({ search, onSearch }: LogTabProps) {
  const [live, setLive] = useState(true)
  const log = useInfiniteQuery(logQuery(search, live))
  const searched = countSearched(search, log.data?.pages ?? [])
  const items = log.data && toActivityItems(log.data.pages.flatMap(({ items }) => items))
  return (
    <div className="grid gap-5">
      <Filters search={search} onChange={onSearch} />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <SwitchField label="Show new lines as they come" checked={live} onChange={setLive} />
        <Export search={search} />
      </div>
      {log.error && <ProblemNotice error={log.error} />}
      {!items && !log.error && <LoadingLog />}
      {items?.length === 0 && (
        <NothingHappened isFiltered={hasFilters(search)} searched={log.hasNextPage ? searched : 0} />
      )}
      {items && items.length > 0 && (
        <ol className={card} aria-label="What happened" aria-busy={log.isPlaceholderData}>
          {items.map((item) => (
            <ActivityRow key={item.callId ?? item.key} item={item} />
          ))}
        </ol>
      )}
      {log.hasNextPage && (
        <div className="grid justify-items-center gap-2">
          {searched > 0 && items && items.length > 0 && (
            <p className="text-sm text-ink-muted">
              These are all that fit among the newest {searched.toLocaleString('en')} lines. There are older ones.
            </p>
          )}
          <Button aria-disabled={log.isFetchingNextPage} onClick={() => !log.isFetchingNextPage && log.fetchNextPage()}>
            {log.isFetchingNextPage ? 'Loading…' : searched > 0 ? 'Look further back' : 'Show older lines'}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Number of searched entries if the server stopped early with a short page, otherwise 0. */
function countSearched({ caller, decision }: ActivitySearch, pages: readonly LogPage[]): number {
  const isLookedInto = Boolean(caller || decision)
  const last = pages.at(-1)
  if (!isLookedInto || !last?.nextCursor || last.items.length >= PAGE) return 0
  return pages.filter(({ items }) => items.length < PAGE).length * MAX_ENTRIES
}

/** Exports all entries that match the filters, not only the loaded pages. The server streams the file. */
function Export({ search }: { search: ActivitySearch }) {
  const save = (format: 'csv' | 'jsonl') => {
    const query = new URLSearchParams({ ...auditQuery(search, new Date()), format })
    const link = document.createElement('a')
    link.href = `${BASE_PATH}/api/audit?${query}`
    link.download = `audit.${format}`
    link.click()
  }
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button size="small">
          <Download aria-hidden /> Export
        </Button>
      </MenuTrigger>
      <MenuContent>
        <MenuItem onSelect={() => save('csv')}>As CSV</MenuItem>
        <MenuItem onSelect={() => save('jsonl')}>As JSON lines</MenuItem>
      </MenuContent>
    </Menu>
  )
}

function NothingHappened({ isFiltered, searched }: { isFiltered: boolean; searched: number }) {
  if (searched > 0)
    return (
      <Empty icon={Activity} title={`Nothing among the newest ${searched.toLocaleString('en')} lines`}>
        There are older ones that may fit. Look further back, or take a filter away.
      </Empty>
    )
  if (isFiltered)
    return (
      <Empty icon={Activity} title="Nothing fits the filters">
        Take one away, or look at a longer time.
      </Empty>
    )
  return (
    <Empty icon={Activity} title="Nothing has happened yet">
      Every call of a tool is kept here: which, with what arguments (secrets are hidden), what was decided and why, how
      it ended and how long it took. So is every change of servers, secrets, rules and keys.
    </Empty>
  )
}

function LoadingLog() {
  return (
    <div role="status" className={card}>
      <span className="sr-only">Loading what happened</span>
      {['w-48', 'w-64', 'w-40', 'w-56', 'w-44'].map((width) => (
        <div key={width} className="flex h-11 items-center gap-4 px-4">
          <Skeleton className="h-3.5 w-24" />
          <Skeleton className={`h-4 ${width} max-w-[50%]`} />
        </div>
      ))}
    </div>
  )
}
