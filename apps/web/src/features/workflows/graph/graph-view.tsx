/** Workflow graph, loaded on first use. `NodeList` is its accessible form. */
import { lazy, Suspense } from 'react'
import { cn } from '../../../ui/cn.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { graphRows } from './graph.ts'
import type { GraphViewProps } from './graph-props.ts'

const Drawn = lazy(() => import('./drawn-graph.tsx').then(({ DrawnGraph }) => ({ default: DrawnGraph })))

/** As low as possible, because the form is below. */
const HEIGHTS = ['h-28', 'h-40', 'h-52'] as const

export function GraphView(props: GraphViewProps) {
  const height = HEIGHTS[graphRows(props.definition)] ?? 'h-64 sm:h-80'
  return (
    <div className={cn('overflow-hidden rounded-2xl border bg-surface shadow-flat', height)}>
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
