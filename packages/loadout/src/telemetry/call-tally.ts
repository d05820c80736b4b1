/**
 * Calls, counted here and read when somebody looks: a call pays for an addition, where a counter of the SDK sorts and writes
 * down its tags each time. The tags are names with a bound and words of closed lists, so that this has a bound too.
 */
import type { Attributes } from '@opentelemetry/api'
import type { BoundedNames } from './bounded-names.ts'
import { ATTRIBUTE, UNKNOWN } from './conventions.ts'

/** A call that is over. Its names are there once its tool was found. */
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
  /** How many ended with which tags. */
  entries(): Iterable<{ tags: Attributes; count: number }>
}

const NOT_FOUND = { toolkit: UNKNOWN, tool: UNKNOWN }

export function createCallTally(names: BoundedNames): CallTally {
  const counts = new Map<string, { tags: Attributes; count: number }>()
  return {
    running: 0,
    ended({ toolkit, tool, caller, outcome, error }) {
      const named = toolkit === undefined || tool === undefined ? NOT_FOUND : names.tool(toolkit, tool)
      // None but the tool can have a space in it, and it comes last.
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
