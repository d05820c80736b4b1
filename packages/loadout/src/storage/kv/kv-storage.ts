import { assertAccess } from '../access.ts'
import { specOf } from '../collections.ts'
import type { Access, Change, Storage, Transaction } from '../storage.ts'
import type { Backend, Write } from './backend.ts'
import { Draft } from './draft.ts'

export interface KvOptions {
  name: string
  open(): Promise<Backend>
  close?(): Promise<void>
  /** Carries committed changes to other holders of the same data, and theirs to us. */
  relay?: { send(changes: Change[]): void; receive(listener: (change: Change) => void): void }
}

/** A Storage over any backend of keys and rows. */
export function createKvStorage(options: KvOptions): Storage {
  const listeners = new Set<(change: Change) => void>()
  const tell = (change: Change) => {
    for (const listener of [...listeners]) listener(change)
  }
  options.relay?.receive(tell)
  let opened: Promise<Backend> | undefined
  const backend = () => {
    opened ??= options.open()
    return opened
  }

  async function transaction<T>(access: Access, work: (tx: Transaction) => Promise<T>): Promise<T> {
    assertAccess(access)
    const store = await backend()
    const [result, writes] = await store.exclusive(async () => {
      const draft = new Draft(access, store)
      const value = await work(draft)
      await store.commit(draft.writes)
      return [value, draft.writes] as const
    })
    const changes = writes.flatMap(changeOf)
    changes.forEach(tell)
    if (changes.length > 0) options.relay?.send(changes)
    return result
  }

  return {
    name: options.name,
    transaction,
    async ready() {
      await backend()
    },
    async watch(listener) {
      await backend()
      listeners.add(listener)
      listener({ kind: 'live' })
      return () => void listeners.delete(listener)
    },
    async close() {
      listeners.clear()
      if (opened) await options.close?.()
    },
  }
}

function changeOf({ collection, owner, id, row, before }: Write): Change[] {
  const { watch } = specOf(collection)
  if (watch === undefined) return []
  const told = (row ?? before)?.[watch]
  return [{ kind: 'row', collection, userId: owner, id: typeof told === 'string' ? told : id }]
}
