import { Skeleton } from '../../ui/skeleton.tsx'

/** The shape of a page whose code is still on its way. */
export function PendingPage() {
  return (
    <div role="status" className="mx-auto grid w-full max-w-4xl gap-8 px-4 py-7 sm:px-8 sm:py-10">
      <span className="sr-only">Loading the page</span>
      <Skeleton className="h-8 w-48" />
      <Skeleton className="h-24 w-full rounded-xl" />
      <Skeleton className="h-24 w-full rounded-xl" />
    </div>
  )
}
