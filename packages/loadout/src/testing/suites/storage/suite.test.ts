/** Tests of the suite itself: each driver here is broken on purpose, and the suite must fail. */
import { describe, expect, it } from 'vitest'
import { HostError } from '../../../errors.ts'
import type { Backend } from '../../../storage/kv/backend.ts'
import { createKvStorage } from '../../../storage/kv/kv-storage.ts'
import { memoryBackend } from '../../../storage/kv/memory-backend.ts'
import type { Access, Change, Storage, Transaction } from '../../../storage/storage.ts'
import { storageSuite } from './suite.ts'

const fromBackend = (change: (backend: Backend) => Partial<Backend>) => (): Storage =>
  createKvStorage({
    name: 'broken',
    async open() {
      const backend = memoryBackend()
      return { ...backend, ...change(backend) }
    },
  })

const fromStorage = (change: (storage: Storage) => Partial<Storage>) => (): Storage => {
  const storage = fromBackend(() => ({}))()
  return { ...storage, ...change(storage) }
}

const withTransaction = (change: (tx: Transaction, access: Access) => Partial<Transaction>) =>
  fromStorage((storage) => ({
    transaction: (access, work) =>
      storage.transaction(access, (tx) => {
        const bound: Transaction = {
          get: tx.get.bind(tx),
          list: tx.list.bind(tx),
          insert: tx.insert.bind(tx),
          insertAll: tx.insertAll.bind(tx),
          update: tx.update.bind(tx),
          delete: tx.delete.bind(tx),
        }
        return work({ ...bound, ...change(bound, access) })
      }),
  }))

/** Broken drivers, and the case that must fail. */
const BROKEN: Record<string, { open: () => Storage; foundBy: string }> = {
  'a read by id that forgets the owner': {
    open: fromBackend((backend) => ({
      get: async (collection, _owner, id) =>
        (await backend.scan(collection)).find((row) => Object.values(row).includes(id)),
    })),
    foundBy: 'a row of another user is invisible and cannot be changed',
  },
  'a commit in pieces': {
    open: fromStorage((storage) => {
      const single = (access: Access): Transaction => ({
        get: (c, id) => storage.transaction(access, (tx) => tx.get(c, id)),
        list: (c, query) => storage.transaction(access, (tx) => tx.list(c, query)),
        insert: (c, row) => storage.transaction(access, (tx) => tx.insert(c, row)),
        insertAll: (c, rows) => storage.transaction(access, (tx) => tx.insertAll(c, rows)),
        update: (c, id, change) => storage.transaction(access, (tx) => tx.update(c, id, change)),
        delete: (c, id) => storage.transaction(access, (tx) => tx.delete(c, id)),
      })
      return { transaction: (access, work) => work(single(access)) }
    }),
    foundBy: 'a failed transaction changes nothing',
  },
  'work that is not kept apart': {
    open: fromBackend(() => ({ exclusive: (work) => work() })),
    foundBy: 'a conditional update is a compare-and-set',
  },
  'children that stay behind': {
    open: fromBackend((backend) => ({
      commit: (writes) => backend.commit(writes.filter((write) => write.row || write.collection !== 'userServerTools')),
    })),
    foundBy: 'child rows need their parent and are deleted with it',
  },
  'a unique key that is not looked at': {
    open: withTransaction((tx) => ({
      async insert(collection, row) {
        const name = 'name' in row && collection === 'userServerConfigs' ? row.name : undefined
        const taken = name === undefined ? [] : await tx.list(collection, { where: { name } as never })
        if (taken.length === 0) await tx.insert(collection, row)
      },
    })),
    foundBy: 'a unique key can be used once per owner',
  },
  'a failure that is forgotten once the work caught it': {
    open: withTransaction((tx) => ({
      async insert(collection, row) {
        if (collection === 'threads' && 'threadId' in row && (await tx.get('threads', String(row.threadId))))
          throw new HostError('conflict')
        await tx.insert(collection, row)
      },
    })),
    foundBy: 'a transaction with a failed operation fails, even when its work caught the error',
  },
  'an unknown field that is left out in silence': {
    open: withTransaction((tx) => ({
      insert(collection, row) {
        const { extra: _, ...fields } = row as typeof row & { extra?: unknown }
        return tx.insert(collection, fields as typeof row)
      },
    })),
    foundBy: 'a value outside its enum or an unknown field is not stored',
  },
  'a NUL that is cut out': {
    open: withTransaction((tx) => ({
      insert: (collection, row) =>
        tx.insert(collection, 'title' in row && row.title ? { ...row, title: row.title.replaceAll('\0', '') } : row),
    })),
    foundBy: 'a text with a NUL character is not stored and matches nothing',
  },
  'a counter of 32 bits': {
    open: withTransaction((tx) => ({
      async insert(collection, row) {
        if ('value' in row && Number(row.value) > 2 ** 31 - 1) throw new HostError('internal')
        await tx.insert(collection, row)
      },
    })),
    foundBy: 'a counter stores more than 32 bits',
  },
  'an update that wants something to set': {
    open: withTransaction((tx) => ({
      async update(collection, id, change) {
        if (Object.keys(change.set).length === 0) throw new HostError('internal')
        return tx.update(collection, id, change)
      },
    })),
    foundBy: 'an empty update returns the row unchanged and notifies no watcher',
  },
  'a watcher that can fail a transaction': {
    open: fromStorage((storage) => {
      const watchers = new Set<(change: Change) => void>()
      return {
        async watch(watcher) {
          watchers.add(watcher)
          return storage.watch(() => {})
        },
        async transaction(access, work) {
          const result = await storage.transaction(access, work)
          for (const watcher of watchers) watcher({ kind: 'live' })
          return result
        },
      }
    }),
    foundBy: 'a throwing watcher does not fail transactions or other watchers',
  },
  'a storage that lives on after its end': {
    open: fromStorage(() => ({ close: async () => {} })),
    foundBy: 'a closed storage is unavailable',
  },
  'a reach that is told as emptiness': {
    open: withTransaction((tx, { caller }) => ({
      list: async (c, query) => (caller === 'sign-in' && c === 'threads' ? [] : tx.list(c, query)),
    })),
    foundBy: 'access beyond the permitted operations is forbidden whether or not the row exists',
  },
  'rows that stay alive in their readers': {
    open: fromStorage((storage) => {
      const seen = new Map<string, unknown>()
      return {
        transaction: (access, work) =>
          storage.transaction(access, (tx) =>
            work({
              list: tx.list.bind(tx),
              insert: tx.insert.bind(tx),
              insertAll: tx.insertAll.bind(tx),
              update: tx.update.bind(tx),
              delete: tx.delete.bind(tx),
              async get(collection, id) {
                const key = JSON.stringify([access, collection, id])
                if (!seen.has(key)) seen.set(key, await tx.get(collection, id))
                return seen.get(key) as never
              },
            }),
          ),
      }
    }),
    foundBy: 'changing a returned row does not change the store',
  },
  'times that come back as text': {
    open: withTransaction((tx) => ({
      get: async (c, id) => JSON.parse(JSON.stringify((await tx.get(c, id)) ?? null)) ?? undefined,
    })),
    foundBy: 'a row comes back as it was stored',
  },
  'a list without its limit': {
    open: withTransaction((tx) => ({ list: (c, query) => tx.list(c, { ...query, limit: 1000 }) })),
    foundBy: 'a list filters, orders and pages by id',
  },
  'many rows that are not checked against each other': {
    open: withTransaction((tx) => ({
      insertAll: async (c, rows) => tx.insertAll(c, [...new Set(rows)]),
    })),
    foundBy: 'a bulk insert stores all rows as given or none of them',
  },
  'a time that is not looked at': {
    open: withTransaction((tx) => ({
      list: (c, { between: _, ...query } = {}) => tx.list(c, query as never),
    })),
    foundBy: 'a list returns the rows between two times',
  },
  'a condition that is ignored': {
    open: withTransaction((tx) => ({ update: (c, id, { set }) => tx.update(c, id, { set }) })),
    foundBy: 'a conditional update is a compare-and-set',
  },
  'a watch that says nothing': {
    open: fromStorage(() => ({
      async watch(listener) {
        listener({ kind: 'live' })
        return () => {}
      },
    })),
    foundBy: 'watchers receive only committed changes',
  },
  'a caller with every right': {
    open: fromStorage((storage) => ({
      transaction: (access, work) =>
        storage.transaction(access.caller === 'sign-in' && access.userId ? { userId: access.userId } : access, work),
    })),
    foundBy: 'a system caller has exactly the access on its list',
  },
}

describe('the storage suite detects', () => {
  for (const [name, { open, foundBy }] of Object.entries(BROKEN)) {
    it(name, async () => {
      const finder = storageSuite(open, { deadlineMs: 200 }).find((suiteCase) => suiteCase.name === foundBy)
      await expect(finder?.run()).rejects.toThrow()
    })
  }

  it('no fault in a correct driver', async () => {
    for (const suiteCase of storageSuite(fromBackend(() => ({})))) await suiteCase.run()
  })
})
