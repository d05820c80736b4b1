import { type IDBPDatabase, type IDBPTransaction, openDB } from 'idb'
import { HostError } from '../errors.ts'
import { COLLECTION_NAMES } from './collections.ts'
import type { Backend, RowObject } from './kv/backend.ts'
import { createKvStorage } from './kv/kv-storage.ts'
import { type OpenOnce, openOnce } from './open-once.ts'
import type { Change, Storage } from './storage.ts'

export interface IndexedDbOptions {
  /** @default 'loadout' */
  database?: string
}

const VERSION = 8
/** Older versions stored the default cap of 16 servers per thread with every change of a preference. */
const VERSION_WITHOUT_DEFAULT_CAP = 8

/** Storage in a browser: persistent, and shared by the tabs of one origin. */
export function indexedDb({ database = 'loadout' }: IndexedDbOptions = {}): Storage {
  const channel = new BroadcastChannel(`loadout:${database}`)
  const connection = keepDatabase(database)
  return createKvStorage({
    name: 'indexeddb',
    async open() {
      await connection.use()
      return indexedDbBackend(connection, database)
    },
    async close() {
      channel.close()
      ;(await connection.close())?.close()
    },
    relay: {
      send: (changes) => channel.postMessage(changes),
      receive: (listener) => {
        channel.onmessage = (event: MessageEvent<Change[]>) => event.data.forEach(listener)
      },
    },
  })
}

/** Closes the database for a tab that upgrades or deletes it, and opens it again on the next use. */
function keepDatabase(database: string): OpenOnce<IDBPDatabase> {
  const letGo = () => void connection.forget().then((db) => db?.close())
  const connection = openOnce(() =>
    openDB(database, VERSION, {
      async upgrade(fresh, before, _after, tx) {
        for (const name of COLLECTION_NAMES) if (!fresh.objectStoreNames.contains(name)) fresh.createObjectStore(name)
        if (before < VERSION_WITHOUT_DEFAULT_CAP) await removeDefaultCap(tx)
      },
      blocking: letGo,
      terminated: letGo,
    }).catch((cause: unknown) => {
      throw unavailable(cause)
    }),
  )
  return connection
}

async function removeDefaultCap(tx: IDBPTransaction<unknown, string[], 'versionchange'>): Promise<void> {
  let row = await tx.objectStore('preferences').openCursor()
  for (; row; row = await row.continue()) {
    const { maxServersPerThread, ...others } = row.value.valueJson
    if (maxServersPerThread === 16) await row.update({ ...row.value, valueJson: others })
  }
}

function unavailable(cause: unknown): HostError {
  const newer = cause instanceof DOMException && cause.name === 'VersionError'
  return new HostError('storage-unavailable', {
    detail: newer
      ? 'A newer version of this page has changed the database.'
      : 'The browser does not open the database.',
    action: newer ? 'Reload the page.' : 'Try again; if it stays so, reload the page and allow it to store data.',
    cause,
  })
}

function indexedDbBackend(connection: OpenOnce<IDBPDatabase>, database: string): Backend {
  return {
    async get(collection, owner, id) {
      const db = await connection.use()
      return (await db.get(collection, [owner, id])) as RowObject | undefined
    },
    async scan(collection, owner) {
      // An array sorts after every string, so this range contains exactly one owner's keys.
      const range = owner === undefined ? null : IDBKeyRange.bound([owner], [owner, []])
      const db = await connection.use()
      return (await db.getAll(collection, range)) as RowObject[]
    },
    async commit(writes) {
      if (writes.length === 0) return
      const names = [...new Set(writes.map((write) => write.collection))]
      const db = await connection.use()
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
