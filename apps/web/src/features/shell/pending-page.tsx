import { PAGE_FRAME } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

/** The shape of a page whose code is still on its way. */
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
