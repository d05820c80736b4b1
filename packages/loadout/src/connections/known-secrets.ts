/**
 * Values of a toolkit that must not be repeated in texts: its own secrets and its user's tokens, and of no other toolkit.
 * Opened once for each version of a record, and forgotten with the toolkit.
 */
import { LRUCache } from 'lru-cache'
import { secretValues } from '../toolkits/secrets/secret-values.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

const REMEMBERED = 10_000

export interface ToolkitSecrets {
  /** At once where they were opened before. A toolkit whose secrets cannot be opened has none: it is not called either. */
  list(stored: StoredToolkit, userId: string): readonly string[] | Promise<readonly string[]>
  /** The toolkit was removed. */
  forget(uscoId: string): void
}

interface CachedSecrets {
  version: number
  /** The same array until the record changes, so that callers can cache by it. */
  values: readonly string[]
}

type Open = (owner: { userId: string; toolkit: string }) => Promise<Record<string, string>>

export function createToolkitSecrets(
  open: Open,
  /** Tokens, which change without the record. The same list until they do. */
  tokens: (stored: StoredToolkit, userId: string) => readonly string[] = () => NONE,
): ToolkitSecrets {
  const cache = new LRUCache<string, CachedSecrets>({ max: REMEMBERED })
  const ownSecrets = (stored: StoredToolkit): readonly string[] | Promise<readonly string[]> => {
    // Both a changed record and a changed secret touch the row.
    const version = stored.row.updatedAt.getTime()
    const cached = cache.get(stored.uscoId)
    if (cached?.version === version) return cached.values
    const store = (secrets: Readonly<Record<string, string>>) => {
      const values = Object.freeze(secretValues(secrets))
      cache.set(stored.uscoId, { version, values })
      return values
    }
    if (stored.ephemeral) return store(stored.ephemeral.secrets())
    return open({ userId: stored.userId, toolkit: stored.uscoId }).then(store, () => NONE)
  }
  const join = joiner()
  return {
    list(stored, userId) {
      const values = ownSecrets(stored)
      const withTokens = (own: readonly string[]) => join(own, tokens(stored, userId))
      return values instanceof Promise ? values.then(withTokens) : withTokens(values)
    },
    forget: (uscoId) => void cache.delete(uscoId),
  }
}

const NONE: readonly string[] = []

/** Joins two lists into one that is the same array for the same two. */
function joiner() {
  const joined = new WeakMap<readonly string[], { own: readonly string[]; both: readonly string[] }>()
  return (own: readonly string[], tokens: readonly string[]): readonly string[] => {
    if (tokens.length === 0) return own
    const cached = joined.get(tokens)
    if (cached?.own === own) return cached.both
    const both = Object.freeze([...own, ...tokens])
    joined.set(tokens, { own, both })
    return both
  }
}
