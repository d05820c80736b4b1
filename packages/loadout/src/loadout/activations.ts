/**
 * What each tier switched on and off, stored. A scope without rows says nothing; `use` makes a list exclusive: everything
 * off, and these on. Which of two rows holds is the overlay's business.
 */
import type { Emitter } from '../events.ts'
import { type ActivationRow, activationRef } from '../schema/activation.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { parse } from '../schema/json.ts'
import type { Scope } from '../schema/scope.ts'
import { tierOf } from '../scope.ts'
import type { Access, ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { again } from '../toolkits/toolkit-writer.ts'
import { type ActivationRule, exclusively } from './layers.ts'

/** The app, a user, or one of a user's threads. */
export type ActivationScope = Omit<Scope, 'callId'>

export interface Activations {
  /** In the order in which they were made. */
  list(scope: ActivationScope): Promise<readonly ActivationRule[]>
  /** All of an owner (the app is ''), by thread; those of no thread are under ''. */
  byThread(userId: string): Promise<ReadonlyMap<string, readonly ActivationRule[]>>
  set(scope: ActivationScope, ref: string, on: boolean): Promise<void>
  /** These and no others, whatever was said before. */
  use(scope: ActivationScope, refs: readonly string[]): Promise<void>
  /** Forgets one word, or all: the scope carries what the tier above it does. */
  clear(scope: ActivationScope, ref?: string): Promise<void>
}

const LIST_LIMIT = 100_000
/** Longer lists are no choice of a person. */
const MAX_REFS = 1000

export function createActivations(parts: { storage: Storage; cache: ReadCache; events: Emitter }): Activations {
  const { storage, cache, events } = parts
  const tell = ({ userId = APP_OWNER, threadId = '' }: ActivationScope) =>
    events.emit({ type: 'loadout-changed', userId, ...(threadId === '' ? {} : { threadId }) })
  const write = async (scope: ActivationScope, work: (tx: Transaction, at: Place) => Promise<void>) => {
    await again(() => storage.transaction(accessTo(scope), (tx) => work(tx, placeOf(scope))))
    tell(scope)
  }

  const byThread = (userId: string): Promise<ReadonlyMap<string, readonly ActivationRule[]>> =>
    cache.read({ userId, name: 'activations' }, ['activations'], () =>
      storage.transaction(accessTo(userId === APP_OWNER ? {} : { userId }), async (tx) =>
        Map.groupBy(await tx.list('activations', { where: { userId }, limit: LIST_LIMIT }), (row) => row.threadId),
      ),
    )

  return {
    byThread,
    async list({ userId = APP_OWNER, threadId = '' }) {
      return (await byThread(userId)).get(threadId) ?? []
    },
    set: (scope, ref, on) => {
      parse(activationRef, ref)
      return write(scope, (tx, at) => put(tx, at, { ref, on }))
    },
    use: (scope, refs) => {
      const wanted = parse(activationRef.array().max(MAX_REFS), refs)
      return write(scope, async (tx, at) => {
        for (const row of await rowsAt(tx, at)) await tx.delete('activations', row.activationId)
        for (const rule of exclusively([...new Set(wanted)])) await insert(tx, at, rule)
      })
    },
    clear: (scope, ref) =>
      write(scope, async (tx, at) => {
        for (const row of await rowsAt(tx, at))
          if (ref === undefined || row.ref === ref) await tx.delete('activations', row.activationId)
      }),
  }
}

interface Place {
  userId: string
  threadId: string
  tier: ActivationRow['tier']
}

const placeOf = (scope: ActivationScope): Place => ({
  userId: scope.userId ?? APP_OWNER,
  threadId: scope.threadId ?? '',
  tier: tierOf(scope),
})

const accessTo = ({ userId }: ActivationScope): Access =>
  userId === undefined ? { caller: 'app-config', userId: APP_OWNER } : { userId }

const rowsAt = (tx: Transaction, { userId, threadId }: Place) =>
  tx.list('activations', { where: { userId, threadId }, limit: LIST_LIMIT })

async function put(tx: Transaction, at: Place, { ref, on }: ActivationRule): Promise<void> {
  const { userId, threadId } = at
  const [row] = await tx.list('activations', { where: { userId, threadId, ref } })
  if (row) await tx.update('activations', row.activationId, { set: { on } })
  else await insert(tx, at, { ref, on })
}

async function insert(tx: Transaction, { userId, threadId, tier }: Place, { ref, on }: ActivationRule): Promise<void> {
  const activationId = newId('activation')
  await tx.insert('activations', { activationId, userId, tier, threadId, ref, on, createdAt: new Date() })
}
