import { type IDBPDatabase, openDB } from 'idb'
import { COLLECTION_NAMES } from './collections.ts'
import type { Backend, RowObject } from './kv/backend.ts'
import { createKvStorage } from './kv/kv-storage.ts'
import type { Change, Storage } from './storage.ts'

export interface IndexedDbOptions {
  /** @default 'loadout' */
  database?: string
}

const VERSION = 1

/** The storage of a browser: kept over reloads, shared by the tabs of one origin. */
export function indexedDb({ database = 'loadout' }: IndexedDbOptions = {}): Storage {
  const channel = new BroadcastChannel(`loadout:${database}`)
  let db: IDBPDatabase | undefined
  return createKvStorage({
    name: 'indexeddb',
    async open() {
      db = await openDB(database, VERSION, {
        upgrade(fresh) {
          for (const name of COLLECTION_NAMES) if (!fresh.objectStoreNames.contains(name)) fresh.createObjectStore(name)
        },
        // A newer tab wants to upgrade: let it.
        blocking: () => db?.close(),
      })
      return indexedDbBackend(db, database)
    },
    async close() {
      channel.close()
      db?.close()
    },
    relay: {
      send: (changes) => channel.postMessage(changes),
      receive: (listener) => {
        channel.onmessage = (event: MessageEvent<Change[]>) => event.data.forEach(listener)
      },
    },
  })
}

function indexedDbBackend(db: IDBPDatabase, database: string): Backend {
  return {
    async get(collection, owner, id) {
      return (await db.get(collection, [owner, id])) as RowObject | undefined
    },
    async scan(collection, owner) {
      // An array sorts after every string, so this range is exactly one owner's keys.
      const range = owner === undefined ? null : IDBKeyRange.bound([owner], [owner, []])
      return (await db.getAll(collection, range)) as RowObject[]
    },
    async commit(writes) {
      if (writes.length === 0) return
      const names = [...new Set(writes.map((write) => write.collection))]
      const tx = db.transaction(names, 'readwrite', { durability: 'strict' })
      const requests = writes.map(({ collection, owner, id, row }) => {
        const store = tx.objectStore(collection)
        return row ? store.put(row, [owner, id]) : store.delete([owner, id])
      })
      await Promise.all([...requests, tx.done])
    },
    exclusive(work) {
      return navigator.locks.request(`loadout:${database}`, work)
    },
  }
}
