import { useQuery } from '@tanstack/react-query'
import type { Toolkit } from '../../api.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { type Offered, offeredQuery } from './queries.ts'

const WORDS: Record<Offered, string> = {
  resources: 'This server offers no resources.',
  prompts: 'This server offers no prompts.',
}
const MOST = 200

/** What a server offers beside its tools, as it lists it now. */
export function OfferedList({ toolkit, kind }: { toolkit: Toolkit; kind: Offered }) {
  const { data: items, error } = useQuery(offeredQuery(toolkit.uscoId, kind))
  if (error && !items) return <ProblemNotice error={error} />
  if (!items)
    return (
      <div role="status" className="grid gap-3 py-2">
        <span className="sr-only">Asking the server</span>
        <Skeleton className="h-4 w-48" />
        <Skeleton className="h-4 w-64" />
      </div>
    )
  if (items.length === 0) return <p className="py-2 text-sm text-ink-muted">{WORDS[kind]}</p>
  return (
    <ul aria-label={`${kind === 'resources' ? 'Resources' : 'Prompts'} of ${toolkit.name}`} className="divide-y">
      {items.slice(0, MOST).map((item) => (
        <li key={text(item.uri) || text(item.name)} className="grid gap-0.5 py-2.5">
          <p className="text-sm font-medium wrap-anywhere">{text(item.title) || text(item.name)}</p>
          {text(item.uri) && <p className="font-mono text-xs wrap-anywhere text-ink-muted">{text(item.uri)}</p>}
          {text(item.description) && (
            <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">{text(item.description)}</p>
          )}
        </li>
      ))}
      {items.length > MOST && <li className="py-2.5 text-sm text-ink-muted">And {items.length - MOST} more.</li>}
    </ul>
  )
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')
