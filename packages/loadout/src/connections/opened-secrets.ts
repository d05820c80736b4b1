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
): OpenedSecrets {
  const users = new LRUCache<string, OfUser>({ max: REMEMBERED_USERS })
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
