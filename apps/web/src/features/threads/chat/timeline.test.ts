import { describe, expect, it } from 'vitest'
import type { ThreadRun } from '../queries.ts'
import type { ChatMessage } from './chat-message.ts'
import type { ToolSearch } from './search-card.tsx'
import { timelineOf } from './timeline.ts'

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`
const message = (id: string, second?: number): ChatMessage => ({
  id,
  role: 'user',
  parts: [],
  ...(second === undefined ? {} : { metadata: { createdAt: at(second) } }),
})
const run = (id: string, second: number, kind: ThreadRun['kind'] = 'program') =>
  ({ id, kind, createdAt: at(second) }) as ThreadRun
const find = (id: string, second: number) => ({ id, at: at(second) }) as ToolSearch
const keys = (parts: Partial<Parameters<typeof timelineOf>[0]>) =>
  timelineOf({ messages: [], runs: [], finds: [], seenAt: () => at(50), hasOlder: false, ...parts }).map(
    ({ key }) => key,
  )

describe('the timeline of a thread', () => {
  it('is sorted by time', () => {
    const parts = {
      messages: [message('a', 1), message('b', 5)],
      runs: [run('r', 6), run('q', 3)],
      finds: [find('f', 4)],
    }
    expect(keys(parts)).toEqual(['a', 'q', 'f', 'b', 'r'])
  })

  it('keeps the message order and puts streaming messages last', () => {
    expect(keys({ messages: [message('a', 9), message('b', 5), message('c')], runs: [run('r', 7)] })).toEqual([
      'r',
      'a',
      'b',
      'c',
    ])
  })

  it('omits workflows, and programs older than the shown messages', () => {
    const runs = [run('w', 6, 'workflow'), run('r', 7), run('old', 1)]
    expect(keys({ messages: [message('a', 5)], runs })).toEqual(['old', 'a', 'r'])
    expect(keys({ messages: [message('a', 5)], runs, hasOlder: true })).toEqual(['a', 'r'])
  })
})
