/** The secrets of a toolkit as values, for those who must not repeat them. Opened once for each version of its record. */
import { LRUCache } from 'lru-cache'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

const REMEMBERED = 10_000

export interface OpenedSecrets {
  /** At once where they were opened before. None where they cannot be opened: nothing is called with them either. */
  of(stored: StoredToolkit): readonly string[] | Promise<readonly string[]>
}

export function createOpenedSecrets(
  open: (owner: { userId: string; toolkit: string }) => Promise<Record<string, string>>,
): OpenedSecrets {
  const opened = new LRUCache<string, readonly string[]>({ max: REMEMBERED })
  return {
    of(stored) {
      // Both a changed record and a changed secret touch the row.
      const version = `${stored.userId} ${stored.uscoId} ${stored.row.updatedAt.getTime()}`
      const known = opened.get(version)
      if (known) return known
      const keep = (secrets: Readonly<Record<string, string>>) => {
        const values = Object.freeze(Object.values(secrets))
        opened.set(version, values)
        return values
      }
      if (stored.carried) return keep(stored.carried.secrets())
      return open({ userId: stored.userId, toolkit: stored.uscoId }).then(keep, () => [])
    },
  }
}
