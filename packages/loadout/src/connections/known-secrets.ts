/**
 * Values of one toolkit to redact from texts: its secrets and its user's tokens. Secrets are read once per version of
 * the record and dropped with the toolkit.
 */
import { LRUCache } from 'lru-cache'
import { secretValues } from '../toolkits/secrets/secret-values.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

const REMEMBERED = 10_000

export interface ToolkitSecrets {
  /** Synchronous if cached. Empty if the secrets cannot be read, because then the toolkit cannot be called either. */
  list(stored: StoredToolkit, userId: string): readonly string[] | Promise<readonly string[]>
  /** Call it after the toolkit was removed. */
  forget(uscoId: string): void
}

interface CachedSecrets {
  version: number
  /** Same array until the record changes, so that callers can cache by identity. */
  values: readonly string[]
}

type Open = (owner: { userId: string; toolkit: string }) => Promise<Record<string, string>>

export function createToolkitSecrets(
  open: Open,
  /** Tokens change without the record; same array until they do. */
  tokens: (stored: StoredToolkit, userId: string) => readonly string[] = () => NONE,
): ToolkitSecrets {
  const cache = new LRUCache<string, CachedSecrets>({ max: REMEMBERED })
  const ownSecrets = (stored: StoredToolkit): readonly string[] | Promise<readonly string[]> => {
    // A changed record and a changed secret both update the row.
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

/** Joins two lists and returns the same array for the same inputs. */
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
