import { LoaderCircle } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Live } from '../../lib/live.ts'

/** A short restart of the server shows no message. */
const SAY_AFTER_MS = 2500

/** Warns that data may be outdated while the event stream is disconnected. */
export function ConnectionBar({ live }: { live: Live }) {
  const [isVisible, setVisible] = useState(false)
  useEffect(() => {
    if (live !== 'away') {
      setVisible(false)
      return
    }
    const timer = window.setTimeout(() => setVisible(true), SAY_AFTER_MS)
    return () => window.clearTimeout(timer)
  }, [live])
  return (
    <div role="status" className="pointer-events-none sticky top-16 z-20 flex h-0 justify-center lg:top-2">
      {isVisible && (
        <p className="flex h-8 items-center gap-2 rounded-full border bg-raised px-3.5 text-[0.8125rem] text-ink-muted shadow-raised">
          <LoaderCircle aria-hidden className="size-3.5 text-busy motion-safe:animate-spin" />
          Connection lost. Trying again; what you see may be old.
        </p>
      )}
    </div>
  )
}
