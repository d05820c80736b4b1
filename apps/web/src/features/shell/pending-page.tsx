import { Skeleton } from '../../ui/data/skeleton.tsx'
import { PAGE_FRAME } from '../../ui/layout/page.tsx'

/** Skeleton of a page that loads. */
export function PendingPage() {
  return (
    <div role="status" className={PAGE_FRAME}>
      <div className="grid max-w-[60rem] gap-8">
        <span className="sr-only">Loading the page</span>
        <Skeleton className="h-8 w-48" />
        <Skeleton className="h-24 w-full rounded-xl" />
        <Skeleton className="h-24 w-full rounded-xl" />
      </div>
    </div>
  )
}
