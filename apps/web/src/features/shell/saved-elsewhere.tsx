import { CircleAlert } from 'lucide-react'
import { Button } from '../../ui/button.tsx'

interface SavedElsewhereProps {
  /** What is edited. */
  what: string
  take: () => void
  keep: () => void
}

/** Whoever saves last must know that they are not the only one. */
export function SavedElsewhere({ what, take, keep }: SavedElsewhereProps) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded-xl border border-act/30 bg-act-soft/50 p-3.5 text-sm"
    >
      <CircleAlert aria-hidden className="size-4 shrink-0 text-act" />
      <p className="min-w-0 flex-1 basis-64">
        This {what} was saved elsewhere while you changed it here. Yours would take the place of what was saved.
      </p>
      <span className="flex flex-wrap gap-2">
        <Button size="small" onClick={take}>
          Take what was saved
        </Button>
        <Button size="small" onClick={keep}>
          Keep mine
        </Button>
      </span>
    </div>
  )
}
