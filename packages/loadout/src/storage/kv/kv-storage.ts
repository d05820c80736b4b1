import { assertAccess, changeRecipient } from '../access.ts'
import { specOf } from '../collections.ts'
import { guardTransaction } from '../guard-transaction.ts'
import { openOnce } from '../open-once.ts'
import type { Access, Change, Storage, Transaction } from '../storage.ts'
import { createWatchers } from '../watchers.ts'
import type { Backend, Write } from './backend.ts'
import { Draft } from './draft.ts'

export interface KvOptions {
  name: string
  open(): Promise<Backend>
  close?(): Promise<void>
  /** Exchanges committed changes with other users of the same data, such as tabs. */
  relay?: { send(changes: Change[]): void; receive(listener: (change: Change) => void): void }
}

/** Storage over any key-value backend. */
export function createKvStorage(options: KvOptions): Storage {
  const watchers = createWatchers()
  options.relay?.receive(watchers.notify)
  const backend = openOnce(options.open)

  async function transaction<T>(access: Access, work: (tx: Transaction) => Promise<T>): Promise<T> {
    assertAccess(access)
    const store = await backend.use()
    const [result, writes] = await store.exclusive(async () => {
      const draft = new Draft(access, store)
      const { transaction: guarded, assertWhole } = guardTransaction(draft)
      const value = await work(guarded)
      assertWhole()
      await store.commit(draft.writes)
      return [value, draft.writes] as const
    })
    const changes = writes.flatMap(changeOf)
    changes.forEach(watchers.notify)
    if (changes.length > 0 && !backend.isClosed) options.relay?.send(changes)
    return result
  }

  return {
    name: options.name,
    transaction,
    async ready() {
      await backend.use()
    },
    async watch(watcher) {
      await backend.use()
      return watchers.add(watcher, { kind: 'live' })
    },
    async close() {
      watchers.clear()
      if (backend.isClosed) return
      await backend.close()
      await options.close?.()
    },
  }
}

function changeOf({ collection, id, row, before }: Write): Change[] {
  const { watch } = specOf(collection)
  if (watch === undefined) return []
  const changed = row ?? before ?? {}
  const watchedId = changed[watch]
  return [
    {
      kind: 'row',
      collection,
      userId: changeRecipient(collection, changed),
      id: typeof watchedId === 'string' ? watchedId : id,
    },
  ]
}
