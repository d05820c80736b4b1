/** Formats times and counts. */
const STEPS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "just now", "3 minutes ago", "in 2 hours"; the date after a month. */
export function formatAgo(at: Date, now: Date): string {
  let amount = (at.getTime() - now.getTime()) / 1000
  if (Math.abs(amount) < 45) return 'just now'
  for (const [unit, size] of STEPS) {
    if (Math.abs(Math.round(amount)) < size) return relative.format(Math.round(amount), unit)
    amount /= size
  }
  return at.toLocaleDateString('en', { year: 'numeric', month: 'short', day: 'numeric' })
}

/** "480 ms", "2.4 s", "3 min". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  return `${Math.round(ms / 60_000)} min`
}

export const counted = (count: number, noun: string, plural = `${noun}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
