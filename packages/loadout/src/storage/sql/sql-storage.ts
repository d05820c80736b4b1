/**
 * Storage over SQL. Every transaction begins by taking the role and the user for itself alone (`set_config(…, true)`),
 * so a pooled connection carries nothing from one user to the next. A driver brings only how to open and to listen.
 */
import { sql } from 'drizzle-orm'
import { assertAccess } from '../access.ts'
import { COLLECTION_NAMES, type Collection } from '../collections.ts'
import type { Access, Change, Storage, Transaction } from '../storage.ts'
import { fromDatabase } from './sql-errors.ts'
import { type Database, SqlTransaction } from './sql-transaction.ts'

export interface SqlConnection {
  db: Database
  close(): Promise<void>
  /** Hears other processes. Absent where there can be none. */
  listen?(hear: (payload: string) => void, status: (live: boolean) => void): Promise<void>
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
  const listeners = new Set<(change: Change) => void>()
  const tell = (change: Change) => {
    for (const listener of [...listeners]) listener(change)
  }
  let opened: Promise<SqlConnection> | undefined
  let listening: Promise<void> | undefined
  let live = false
  // A failed start is not kept: the next use tries again.
  const connection = () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw fromDatabase(error)
    })
    return opened
  }

  async function startListening(): Promise<void> {
    const { listen } = await connection()
    if (!listen) {
      live = true
      return
    }
    await listen(
      (payload) => {
        const change = readPayload(payload, origin)
        if (change) tell(change)
      },
      (isLive) => {
        if (live !== isLive) tell({ kind: isLive ? 'live' : 'lost' })
        live = isLive
      },
    )
  }

  return {
    name,
    async transaction<T>(access: Access, work: (tx: Transaction) => Promise<T>): Promise<T> {
      assertAccess(access)
      const { db } = await connection()
      try {
        const [result, changes] = await db.transaction(async (tx) => {
          await enter(tx, access, origin)
          const mine = new SqlTransaction(tx, access)
          return [await work(mine), mine.changes] as const
        })
        changes.forEach(tell)
        return result
      } catch (error) {
        throw fromDatabase(error)
      }
    },
    async ready() {
      await connection()
    },
    async watch(listener) {
      listening ??= startListening().catch((error: unknown) => {
        listening = undefined
        throw fromDatabase(error)
      })
      await listening
      listeners.add(listener)
      if (live) listener({ kind: 'live' })
      return () => void listeners.delete(listener)
    },
    async close() {
      listeners.clear()
      const closing = await opened?.catch(() => undefined)
      await closing?.close()
    },
  }
}

// Our own changes were told when they were committed.
function readPayload(payload: string, origin: string): Change | undefined {
  const [collection, userId, id, from] = JSON.parse(payload) as [string, string, string, string | null]
  if (from === origin || !COLLECTION_NAMES.includes(collection as Collection)) return undefined
  return { kind: 'row', collection: collection as Collection, userId, id }
}
