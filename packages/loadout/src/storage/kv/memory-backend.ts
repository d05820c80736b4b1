import { type Collection, specOf } from '../collections.ts'
import { type Backend, type RowObject, rowKey } from './backend.ts'

/** Rows of one owner, with an index of their unique keys. */
interface Owned {
  rows: Map<string, RowObject>
  keys: Array<{ fields: readonly string[]; values: Set<unknown> }>
}

export function memoryBackend(): Backend {
  const collections = new Map<Collection, Map<string, Owned>>()
  let tail: Promise<unknown> = Promise.resolve()

  const ownedBy = (collection: Collection, owner: string) => {
    const owners = collections.get(collection) ?? new Map<string, Owned>()
    collections.set(collection, owners)
    const { id, unique } = specOf(collection)
    const owned = owners.get(owner) ?? {
      rows: new Map(),
      keys: [[id], ...unique].map((fields) => ({ fields, values: new Set() })),
    }
    owners.set(owner, owned)
    return owned
  }

  return {
    async get(collection, owner, id) {
      return collections.get(collection)?.get(owner)?.rows.get(id)
    },
    async scan(collection, owner) {
      const owners = collections.get(collection)
      if (!owners) return []
      if (owner !== undefined) return [...(owners.get(owner)?.rows.values() ?? [])]
      return [...owners.values()].flatMap((owned) => [...owned.rows.values()])
    },
    hasKey(collection, owner, { fields, value }) {
      const keys = collections.get(collection)?.get(owner)?.keys
      return keys?.find((entry) => entry.fields.join() === fields.join())?.values.has(value) ?? false
    },
    async commit(writes) {
      for (const { collection, owner, id, row } of writes) {
        const { rows, keys } = ownedBy(collection, owner)
        const before = rows.get(id)
        if (before) for (const { fields, values } of keys) values.delete(rowKey(before, fields))
        rows.delete(id)
        if (!row) continue
        rows.set(id, row)
        for (const { fields, values } of keys) values.add(rowKey(row, fields))
      }
    },
    exclusive(work) {
      const next = tail.then(work, work)
      tail = next.catch(() => {})
      return next
    },
  }
}
