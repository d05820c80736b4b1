/**
 * Storage over SQL. Every transaction sets its role and user with `set_config(…, true)`, so that a pooled connection
 * never carries a user into the next transaction. A driver only opens connections and listens.
 */
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { assertAccess } from '../access.ts'
import { COLLECTION_NAMES } from '../collections.ts'
import { guardTransaction } from '../guard-transaction.ts'
import { type OpenOnce, openOnce } from '../open-once.ts'
import type { Access, Change, Storage, Transaction } from '../storage.ts'
import { createWatchers } from '../watchers.ts'
import { fromDatabase } from './sql-errors.ts'
import { type Database, SqlTransaction } from './sql-transaction.ts'

export interface SqlConnection {
  /** Commits after the work, or rolls back if it throws. */
  transaction<T>(work: (tx: Database) => Promise<T>): Promise<T>
  close(): Promise<void>
  /** Receives changes of other processes; undefined if there can be none. */
  listen?(handler: { onPayload(payload: string): void; onStatus(live: boolean): void }): Promise<void>
}

export interface SqlOptions {
  name: string
  open(): Promise<SqlConnection>
  /** Sets the role and user of a transaction. @default enterTransaction */
  enter?: typeof enterTransaction
}

type Executor = Pick<Database, 'execute'>

/** `true` limits the settings to this transaction; otherwise the next transaction would run as this user. */
export async function enterTransaction(tx: Executor, access: Access, origin: string): Promise<void> {
  const role = access.caller === undefined ? 'loadout_user' : 'loadout_system'
  await tx.execute(sql`select
    set_config('role', ${role}, true),
    set_config('loadout.user_id', ${access.userId ?? ''}, true),
    set_config('loadout.caller', ${access.caller ?? ''}, true),
    set_config('loadout.origin', ${origin}, true)`)
}

export function createSqlStorage({ name, open, enter = enterTransaction }: SqlOptions): Storage {
  const origin = crypto.randomUUID()
  const watchers = createWatchers()
  const connection = openOnce(() =>
    open().catch((error: unknown) => {
      throw fromDatabase(error)
    }),
  )
  const listening = openOnce(() => listenForOthers(connection, { watchers, origin }))

  return {
    name,
    async transaction<T>(access: Access, work: (tx: Transaction) => Promise<T>): Promise<T> {
      assertAccess(access)
      const { transaction } = await connection.use()
      const [result, changes] = await transaction(async (tx) => {
        await enter(tx, access, origin)
        const sqlTransaction = new SqlTransaction(tx, access)
        const { transaction: guarded, assertWhole } = guardTransaction(sqlTransaction, fromDatabase)
        const value = await work(guarded)
        assertWhole()
        return [value, sqlTransaction.changes] as const
      }).catch((error: unknown) => {
        throw fromDatabase(error)
      })
      changes.forEach(watchers.notify)
      return result
    },
    async ready() {
      await connection.use()
    },
    async watch(watcher) {
      const isLive = await listening.use()
      return watchers.add(watcher, isLive() ? { kind: 'live' } : undefined)
    },
    async close() {
      watchers.clear()
      await listening.close()
      await (await connection.close())?.close()
    },
  }
}

interface Listening {
  watchers: ReturnType<typeof createWatchers>
  origin: string
}

/** Starts to listen and returns a function that tells whether it is live. */
async function listenForOthers(
  connection: OpenOnce<SqlConnection>,
  { watchers, origin }: Listening,
): Promise<() => boolean> {
  const { listen } = await connection.use()
  let live = listen === undefined
  await listen?.({
    onPayload(payload) {
      const change = readPayload(payload, origin)
      if (change) watchers.notify(change)
    },
    onStatus(isLive) {
      if (live !== isLive) watchers.notify({ kind: isLive ? 'live' : 'lost' })
      live = isLive
    },
  })
  return () => live
}

const payloadSchema = z.tuple([z.enum(COLLECTION_NAMES), z.string(), z.string(), z.string().nullable()])

// Any database user may notify on this channel, so invalid payloads are ignored. Own changes were reported at their
// commit.
function readPayload(payload: string, origin: string): Change | undefined {
  let sent: unknown
  try {
    sent = JSON.parse(payload)
  } catch {
    return undefined
  }
  const read = payloadSchema.safeParse(sent)
  if (!read.success) return undefined
  const [collection, userId, id, from] = read.data
  return from === origin ? undefined : { kind: 'row', collection, userId, id }
}
