import type { Collection } from '../collections.ts'
import type { Backend, RowObject } from './backend.ts'

export function memoryBackend(): Backend {
  const rows = new Map<Collection, Map<string, Map<string, RowObject>>>()
  let tail: Promise<unknown> = Promise.resolve()

  const ownerRows = (collection: Collection, owner: string) => {
    const owners = rows.get(collection) ?? new Map<string, Map<string, RowObject>>()
    rows.set(collection, owners)
    const own = owners.get(owner) ?? new Map<string, RowObject>()
    owners.set(owner, own)
    return own
  }

  return {
    async get(collection, owner, id) {
      return rows.get(collection)?.get(owner)?.get(id)
    },
    async scan(collection, owner) {
      const owners = rows.get(collection)
      if (!owners) return []
      if (owner !== undefined) return [...(owners.get(owner)?.values() ?? [])]
      return [...owners.values()].flatMap((own) => [...own.values()])
    },
    async commit(writes) {
      for (const { collection, owner, id, row } of writes) {
        if (row) ownerRows(collection, owner).set(id, row)
        else ownerRows(collection, owner).delete(id)
      }
    },
    exclusive(work) {
      const next = tail.then(work, work)
      tail = next.catch(() => {})
      return next
    },
  }
}
