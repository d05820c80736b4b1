import { useQuery } from '@tanstack/react-query'
import { Check, Minus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { type Explained, threadExplainQuery } from '../queries.ts'

const INITIAL_COUNT = 40

/** Why each tool is available in the thread or not. */
export function ExplainList({ threadId }: { threadId: string }) {
  const { data: items, error } = useQuery(threadExplainQuery(threadId))
  const [text, setText] = useState('')
  const [visibleCount, setVisibleCount] = useState(INITIAL_COUNT)
  const words = useDeferredValue(text.trim().toLowerCase())
  if (error && !items) return <ProblemNotice error={error} />
  if (!items) return <Skeleton className="h-24 w-full rounded-lg" />
  const found = items.filter(({ ref, reasons }) =>
    [ref, ...reasons.map(({ detail }) => detail)].some((value) => value.toLowerCase().includes(words)),
  )
  return (
    <div className="grid gap-3">
      <Input
        type="search"
        aria-label="Filter tools and reasons"
        placeholder="Filter by tool or reason"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <p role="status" className="text-[0.8125rem] text-ink-muted">
        {counted(found.length, 'tool')}, {found.filter(({ included }) => included).length.toLocaleString('en')} carried
      </p>
      <ul className="divide-y rounded-lg border bg-raised empty:hidden" aria-label="Why each tool is carried or not">
        {found.slice(0, visibleCount).map((item) => (
          <ExplainRow key={`${item.tier} ${item.ref}`} item={item} />
        ))}
      </ul>
      {found.length > visibleCount && (
        <Button size="small" className="justify-self-start" onClick={() => setVisibleCount(visibleCount + 200)}>
          Show more
        </Button>
      )}
    </div>
  )
}

function ExplainRow({ item: { ref, included, reasons } }: { item: Explained }) {
  const Icon = included ? Check : Minus
  return (
    <li className="grid gap-1 px-3 py-2">
      <div className="flex items-center gap-2">
        <Icon aria-hidden className={included ? 'size-3.5 text-good' : 'size-3.5 text-ink-faint'} />
        <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{ref}</code>
        <span className={included ? 'text-xs text-good' : 'text-xs text-ink-muted'}>
          {included ? 'Carried' : 'Left out'}
        </span>
      </div>
      <ul className="grid gap-0.5 pl-5.5 text-xs text-ink-muted">
        {reasons.map(({ speaks, detail, tier }) => (
          <li key={`${speaks} ${tier} ${detail}`} className="wrap-anywhere">
            {speaks === 'for' ? '+' : '−'} {detail}
          </li>
        ))}
      </ul>
    </li>
  )
}
