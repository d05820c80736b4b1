/**
 * Storage over SQL. Every transaction begins by taking the role and the user for itself alone (`set_config(…, true)`),
 * so a pooled connection carries nothing from one user to the next. A driver brings only how to open and to listen.
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
  /** Begins, runs the work and commits; rolls back where it throws. */
  transaction<T>(work: (tx: Database) => Promise<T>): Promise<T>
  close(): Promise<void>
  /** Hears other processes. Absent where there can be none. */
  listen?(handler: { onPayload(payload: string): void; onStatus(live: boolean): void }): Promise<void>
}

export interface SqlOptions {
  name: string
  open(): Promise<SqlConnection>
  /** How a transaction takes its role and user. @default enterTransaction */
  enter?: typeof enterTransaction
}

type Executor = Pick<Database, 'execute'>

/** `true`: for this transaction only. Without it the next borrower of the connection would be this user. */
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

/** Begins to hear other processes, and gives whether it does at any moment. */
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

// Anybody on the database may notify on our channel: what is not ours is nothing. Our own was told at its commit.
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
