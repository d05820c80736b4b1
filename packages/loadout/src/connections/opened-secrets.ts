/**
 * Secrets as values, for those who must not repeat them: of the toolkit that is used, and of what else this user used in
 * this process. Opened once for each version of a record.
 */
import { LRUCache } from 'lru-cache'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

const REMEMBERED_USERS = 2000

export interface OpenedSecrets {
  /** At once where they were opened before. A toolkit whose secrets cannot be opened has none: it is not called either. */
  of(stored: StoredToolkit, userId: string): readonly string[] | Promise<readonly string[]>
}

interface OfUser {
  toolkits: Map<string, { version: number; values: readonly string[] }>
  /** The same array until something changes, so that what is worked out from it can be kept. */
  all: readonly string[]
}

export function createOpenedSecrets(
  open: (owner: { userId: string; toolkit: string }) => Promise<Record<string, string>>,
  /** What changes without the record: tokens. The same list until it does. */
  live: (stored: StoredToolkit, userId: string) => readonly string[] = () => NONE,
): OpenedSecrets {
  const users = new LRUCache<string, OfUser>({ max: REMEMBERED_USERS })
  const joined = new WeakMap<readonly string[], { all: readonly string[]; both: readonly string[] }>()
  const withLive = (all: readonly string[], tokens: readonly string[]): readonly string[] => {
    if (tokens.length === 0) return all
    const known = joined.get(tokens)
    if (known?.all === all) return known.both
    const both = Object.freeze([...all, ...tokens])
    joined.set(tokens, { all, both })
    return both
  }
  const stable = stableSecrets(open, users)
  return {
    of(stored, userId) {
      const all = stable.of(stored, userId)
      const join = (values: readonly string[]) => withLive(values, live(stored, userId))
      return all instanceof Promise ? all.then(join) : join(all)
    },
  }
}

const NONE: readonly string[] = []

function stableSecrets(
  open: (owner: { userId: string; toolkit: string }) => Promise<Record<string, string>>,
  users: LRUCache<string, OfUser>,
): OpenedSecrets {
  return {
    of(stored, userId) {
      const known = users.get(userId)
      // Both a changed record and a changed secret touch the row.
      const version = stored.row.updatedAt.getTime()
      if (known?.toolkits.get(stored.uscoId)?.version === version) return known.all
      const keep = (secrets: Readonly<Record<string, string>>) => {
        const { toolkits } = users.get(userId) ?? { toolkits: new Map() }
        toolkits.set(stored.uscoId, { version, values: Object.values(secrets) })
        const all = Object.freeze([...new Set([...toolkits.values()].flatMap(({ values }) => values))])
        users.set(userId, { toolkits, all })
        return all
      }
      if (stored.carried) return keep(stored.carried.secrets())
      return open({ userId: stored.userId, toolkit: stored.uscoId }).then(keep, () => known?.all ?? [])
    },
  }
}
