/** Merges messages, program runs and searches of a thread into one timeline. */

import type { ThreadRun } from '../queries.ts'
import type { ChatMessage } from './chat-message.ts'
import type { ToolSearch } from './search-card.tsx'

export type Entry =
  | { kind: 'message'; at: string; key: string; message: ChatMessage }
  | { kind: 'run'; at: string; key: string; run: ThreadRun }
  | { kind: 'find'; at: string; key: string; find: ToolSearch }

interface TimelineInput {
  messages: readonly ChatMessage[]
  runs: readonly ThreadRun[]
  finds: readonly ToolSearch[]
  /** First time that a message without a timestamp was seen. */
  seenAt: (id: string) => string
  /** Whether older messages exist; older programs are hidden until they load. */
  hasOlder: boolean
}

export function timelineOf({ messages, runs, finds, seenAt, hasOlder }: TimelineInput): Entry[] {
  const messageEntries = messages.map(
    (message): Entry => ({
      kind: 'message',
      key: message.id,
      message,
      at: message.metadata?.createdAt ?? seenAt(message.id),
    }),
  )
  const first = hasOlder ? (messageEntries[0]?.at ?? '') : ''
  const runEntries = runs
    .filter(({ kind, createdAt }) => kind === 'program' && createdAt >= first)
    .map((run): Entry => ({ kind: 'run', key: run.id, run, at: run.createdAt }))
  const searchEntries = finds.map((find): Entry => ({ kind: 'find', key: find.id, find, at: find.at }))
  return inOrder(
    messageEntries,
    [...runEntries, ...searchEntries].sort((a, b) => a.at.localeCompare(b.at)),
  )
}

// Messages keep their order regardless of clocks; other entries are inserted by time.
function inOrder(messages: readonly Entry[], others: readonly Entry[]): Entry[] {
  const merged: Entry[] = []
  let next = 0
  for (const message of messages) {
    for (let other = others[next]; other && other.at < message.at; other = others[++next]) merged.push(other)
    merged.push(message)
  }
  return [...merged, ...others.slice(next)]
}
