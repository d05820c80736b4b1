/**
 * Counts calls in memory and exports them on collection: a call costs one addition, while an SDK counter serializes its
 * tags each time. Tags are bounded, so the memory is too.
 */
import type { Attributes } from '@opentelemetry/api'
import type { BoundedNames } from './bounded-names.ts'
import { ATTRIBUTE, UNKNOWN_VALUE } from './conventions.ts'

/** A finished call. Its names are undefined if its tool was not found. */
export interface EndedCall {
  toolkit: string | undefined
  tool: string | undefined
  caller: string
  outcome: string
  error: string | undefined
}

export interface CallTally {
  running: number
  ended(call: EndedCall): void
  /** Counts by tags. */
  entries(): Iterable<{ tags: Attributes; count: number }>
}

const NOT_FOUND = { toolkit: UNKNOWN_VALUE, tool: UNKNOWN_VALUE }

export function createCallTally(names: BoundedNames): CallTally {
  const counts = new Map<string, { tags: Attributes; count: number }>()
  return {
    running: 0,
    ended({ toolkit, tool, caller, outcome, error }) {
      const named = toolkit === undefined || tool === undefined ? NOT_FOUND : names.tool(toolkit, tool)
      // Only a tool name can contain a space, and it comes last.
      const key = `${caller} ${outcome} ${error} ${named.toolkit} ${named.tool}`
      const entry = counts.get(key)
      if (entry) {
        entry.count++
        return
      }
      const tags = { ...named, caller, outcome, ...(error === undefined ? {} : { [ATTRIBUTE.error]: error }) }
      counts.set(key, { tags, count: 1 })
    },
    entries: () => counts.values(),
  }
}
