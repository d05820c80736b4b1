import { useEffect, useState } from 'react'

const QUIET_MS = 400

/** The value after 400 ms without a change. */
export function useDebounced(value: string): string {
  const [quiet, setQuiet] = useState(value)
  useEffect(() => {
    const timer = window.setTimeout(() => setQuiet(value), QUIET_MS)
    return () => window.clearTimeout(timer)
  }, [value])
  return quiet
}
