import { describe, expect, it } from 'vitest'
import { counted, formatAgo, formatDuration } from './format-time.ts'

const now = new Date('2026-03-01T12:00:00Z')
const before = (seconds: number) => new Date(now.getTime() - seconds * 1000)

describe('time formatting', () => {
  it.each([
    [0, 'just now'],
    [44, 'just now'],
    [50, '50 seconds ago'],
    [59.7, '1 minute ago'],
    [3599, '1 hour ago'],
    [7200, '2 hours ago'],
    [86_400, 'yesterday'],
    [-7200, 'in 2 hours'],
    [86_400 * 29, '29 days ago'],
  ])('writes %d seconds ago as %s', (seconds, words) => {
    expect(formatAgo(before(seconds), now)).toBe(words)
  })

  it('shows a date for times older than a month', () => {
    expect(formatAgo(before(86_400 * 60), now)).toMatch(/2025|Dec/)
  })

  it('formats a duration', () => {
    expect([0.34, 480.4, 2400, 42_000, 180_000].map(formatDuration)).toEqual([
      '0.3 ms',
      '480 ms',
      '2.4 s',
      '42 s',
      '3 min',
    ])
  })

  it('formats counts with singular and plural', () => {
    expect([counted(1, 'tool'), counted(2000, 'tool'), counted(2, 'reply', 'replies')]).toEqual([
      '1 tool',
      '2,000 tools',
      '2 replies',
    ])
  })
})
