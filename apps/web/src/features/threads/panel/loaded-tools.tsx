import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { loadedQuery } from '../queries.ts'
import { useUnload } from './use-loadout.ts'

/** Tools that are sent with every prompt of the thread. */
export function LoadedTools({ threadId }: { threadId: string }) {
  const { data: items, error } = useQuery(loadedQuery(threadId))
  const unload = useUnload(threadId)
  if (error && !items) return <ProblemNotice error={error} />
  if (!items) return <Skeleton className="h-20 w-full rounded-lg" />
  if (items.length === 0)
    return (
      <p className="text-sm text-ink-muted">
        Nothing is loaded. A tool that the model finds stays for the thread; in <em>Find tools</em> you can keep one
        yourself.
      </p>
    )
  return (
    <div className="grid gap-3">
      <ul className="divide-y rounded-lg border bg-raised" aria-label="Loaded tools">
        {items.map(({ ref, sticky }) => (
          <li key={ref} className="flex min-h-10 items-center gap-2 py-1 pr-1 pl-3">
            <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{ref}</code>
            {sticky && <Badge>Kept</Badge>}
            <Button
              variant="quiet"
              size="icon"
              className="size-8"
              aria-label={`Unload ${ref}`}
              aria-disabled={unload.isPending}
              onClick={() => unload.mutate(ref)}
            >
              <X aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      <Button size="small" className="justify-self-start" onClick={() => unload.mutate(undefined)}>
        Unload all
      </Button>
    </div>
  )
}
