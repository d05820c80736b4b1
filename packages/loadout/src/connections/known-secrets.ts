/**
 * Values of a toolkit that must not be repeated in texts: its own secrets and its user's tokens, and of no other toolkit.
 * Opened once for each version of a record, and forgotten with the toolkit.
 */
import { LRUCache } from 'lru-cache'
import { secretValues } from '../toolkits/secrets/secret-values.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

const REMEMBERED = 10_000

export interface OpenedSecrets {
  /** At once where they were opened before. A toolkit whose secrets cannot be opened has none: it is not called either. */
  of(stored: StoredToolkit, userId: string): readonly string[] | Promise<readonly string[]>
  /** The toolkit was removed. */
  forget(uscoId: string): void
}

interface Opened {
  version: number
  /** The same array until the record changes, so that callers can cache by it. */
  values: readonly string[]
}

type Open = (owner: { userId: string; toolkit: string }) => Promise<Record<string, string>>

export function createOpenedSecrets(
  open: Open,
  /** Tokens, which change without the record. The same list until they do. */
  live: (stored: StoredToolkit, userId: string) => readonly string[] = () => NONE,
): OpenedSecrets {
  const opened = new LRUCache<string, Opened>({ max: REMEMBERED })
  const stable = (stored: StoredToolkit): readonly string[] | Promise<readonly string[]> => {
    // Both a changed record and a changed secret touch the row.
    const version = stored.row.updatedAt.getTime()
    const known = opened.get(stored.uscoId)
    if (known?.version === version) return known.values
    const keep = (secrets: Readonly<Record<string, string>>) => {
      const values = Object.freeze(secretValues(secrets))
      opened.set(stored.uscoId, { version, values })
      return values
    }
    if (stored.ephemeral) return keep(stored.ephemeral.secrets())
    return open({ userId: stored.userId, toolkit: stored.uscoId }).then(keep, () => NONE)
  }
  const join = joiner()
  return {
    of(stored, userId) {
      const values = stable(stored)
      const withLive = (own: readonly string[]) => join(own, live(stored, userId))
      return values instanceof Promise ? values.then(withLive) : withLive(values)
    },
    forget: (uscoId) => void opened.delete(uscoId),
  }
}

const NONE: readonly string[] = []

/** Joins two lists into one that is the same array for the same two. */
function joiner() {
  const joined = new WeakMap<readonly string[], { own: readonly string[]; both: readonly string[] }>()
  return (own: readonly string[], tokens: readonly string[]): readonly string[] => {
    if (tokens.length === 0) return own
    const known = joined.get(tokens)
    if (known?.own === own) return known.both
    const both = Object.freeze([...own, ...tokens])
    joined.set(tokens, { own, both })
    return both
  }
}
