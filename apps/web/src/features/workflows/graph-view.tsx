/** The graph, drawn from the list. Its code comes when it is first shown; the list says the same to who does not see it. */
import { lazy, Suspense } from 'react'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { GraphViewProps } from './graph-props.ts'

const Drawn = lazy(() => import('./drawn-graph.tsx').then(({ DrawnGraph }) => ({ default: DrawnGraph })))

export function GraphView(props: GraphViewProps) {
  return (
    <div className="h-64 overflow-hidden rounded-2xl border bg-surface shadow-flat sm:h-80">
      {props.definition.nodes.length === 0 ? (
        <p className="flex h-full items-center justify-center px-6 text-center text-sm text-ink-muted">
          The graph is drawn here as you add nodes.
        </p>
      ) : (
        <Suspense fallback={<Skeleton className="h-full w-full rounded-none" />}>
          <Drawn {...props} />
        </Suspense>
      )}
    </div>
  )
}
