import { useEffect, useState } from 'react'
import { cn } from '../cn.ts'
import { formatAgo } from './format-time.ts'

const MINUTE_MS = 60_000

/** Relative time that stays current, with the exact time as tooltip. */
export function TimeAgo({ at, className }: { at: string; className?: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className={cn('whitespace-nowrap', className)}>
      {formatAgo(new Date(at), now)}
    </time>
  )
}

function useNow(): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = window.setInterval(() => setNow(new Date()), MINUTE_MS)
    return () => window.clearInterval(timer)
  }, [])
  return now
}
