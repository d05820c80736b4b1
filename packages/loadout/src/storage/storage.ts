/**
 * The storage contract, which `testing/suites/storage/suite.ts` tests for every driver:
 *
 * - All access is a transaction with an `Access`: a user, or a system caller.
 * - A user sees their own rows, and the app's rows if the collection allows it. Other rows do not exist for them.
 * - A system caller gets `forbidden` for collections outside its list, also in `get` and `list`; inside its list, rows
 *   beyond its access do not exist. Operations that users may never do on a collection are `forbidden` too.
 * - A transaction is atomic: an error or a failed constraint leaves nothing behind. After a failed operation the
 *   transaction fails with that error, even if the caller caught it.
 * - A row that violates its schema, has an unknown field, or contains a NUL is `invalid-row`.
 * - The key of a row is (owner, ID), never the ID alone.
 * - After a commit, watchers of this process are notified at once, and those of other processes within a second. A
 *   watcher that throws affects nobody else.
 * - After `close` every use is `storage-unavailable`.
 */
import type { KeyRing } from '../credentials/key-ring.ts'
import type { Collection, Row, SystemCaller } from './collections.ts'

export type { Collection, Row, SystemCaller }

/**
 * Identity of a transaction. `{ userId }` is a user. `{ caller }` is a system caller with the access in
 * `SYSTEM_CALLERS`; with a `userId` it can also address rows by ID.
 */
export type Access = { userId: string; caller?: undefined } | { caller: SystemCaller; userId?: string }

export interface RowQuery<C extends Collection> {
  /** Equality on any fields. */
  where?: Partial<Row<C>>
  /** Rows whose time in `field` is in this range, both ends included. */
  between?: { field: keyof Row<C> & string; from?: Date | undefined; to?: Date | undefined }
  /** Rows after this ID, for paging. */
  after?: string
  /** @default 1000 */
  limit?: number
  /** By ID, which is by creation time. @default 'asc' */
  order?: 'asc' | 'desc'
}

export interface Update<C extends Collection> {
  set: Partial<Row<C>>
  /** Compare and set: update only if the row still has these values. */
  where?: Partial<Row<C>>
}

export interface Transaction {
  get<C extends Collection>(collection: C, id: string): Promise<Row<C> | undefined>
  list<C extends Collection>(collection: C, query?: RowQuery<C>): Promise<Row<C>[]>
  /** Throws `conflict` if a unique key is taken, and `not-found` if the parent is missing. */
  insert<C extends Collection>(collection: C, row: Row<C>): Promise<void>
  /** Inserts many rows at once, atomically. */
  insertAll<C extends Collection>(collection: C, rows: readonly Row<C>[]): Promise<void>
  /**
   * Returns the changed row, or undefined if no row matches. Atomic. An empty `set` changes and reports nothing and
   * returns the row.
   */
  update<C extends Collection>(collection: C, id: string, change: Update<C>): Promise<Row<C> | undefined>
  /** Returns whether the row existed. Its children are deleted too. */
  delete(collection: Collection, id: string): Promise<boolean>
}

/** `lost`: changes may be missed from now on. `live`: watching again, so earlier cached data may be outdated. */
export type Change =
  | { kind: 'row'; collection: Collection; userId: string; id: string }
  | { kind: 'live' }
  | { kind: 'lost' }

export interface Storage {
  readonly name: string
  transaction<T>(access: Access, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Reports every committed change until the returned function is called. Resolves once it is watching. */
  watch(listener: (change: Change) => void): Promise<() => void>
  /** Key ring beside the data, for hosts without a configured one. */
  readonly keyRing?: (() => Promise<KeyRing>) | undefined
  /** Opens and migrates once; other methods wait for it themselves. */
  ready(): Promise<void>
  close(): Promise<void>
}

/** Key of a cached read (see `read-cache.ts`). */
export interface CacheKey {
  userId: string
  /** Name of the read, for example `toolkits`. */
  name: string
}

export interface ReadCache {
  /** Returns the cached value, or loads it. A change in one of `collections` drops it. */
  read<T>(key: CacheKey, collections: readonly Collection[], load: () => Promise<T>): Promise<T>
  close(): void
}

/** Storage that can be backed up while it runs. */
export interface BackupStorage extends Storage {
  backup(): Promise<Uint8Array>
}

export const DEFAULT_LIST_LIMIT = 1000
