/**
 * The storage contract. A driver keeps these promises, and `testing/suites/storage/suite.ts` proves each of them:
 *
 * - All access is a transaction with an `Access`: a user, or a named system caller. Nothing reads without one.
 * - A user sees their own rows, and the app's where the collection says so. Another's row does not exist.
 * - A system caller that touches a collection outside its list is `forbidden`, also by `get` and `list`; inside its
 *   list, rows beyond its reach do not exist for it. What a user may never do to a collection is `forbidden` as well.
 * - A transaction is all or nothing; a thrown error, or a failed constraint, leaves nothing behind. Once an operation
 *   has failed the transaction fails with that error, even where its work caught it.
 * - A row that its schema refuses, with a field it does not know, or with a NUL in a text, is `invalid-row`.
 * - Keyed operations carry the user: the key of a row is (owner, id), never the id alone.
 * - After a commit every watcher of this process is told at once, and those of other processes within a second. A
 *   watcher that throws fails nobody.
 * - After `close` every use is `storage-unavailable`.
 */
import type { KeyRing } from '../credentials/key-ring.ts'
import type { Collection, Row, SystemCaller } from './collections.ts'

export type { Collection, Row, SystemCaller }

/**
 * On whose behalf. `{ userId }` is a user. `{ caller }` is one of the few named parts that reach further, each only as
 * far as `SYSTEM_CALLERS` says; with a `userId` it can also address rows by their id.
 */
export type Access = { userId: string; caller?: undefined } | { caller: SystemCaller; userId?: string }

export interface ListQuery<C extends Collection> {
  /** Equality on any fields. */
  where?: Partial<Row<C>>
  /** Only rows whose time in a field lies between these, both included. */
  between?: { field: keyof Row<C> & string; from?: Date | undefined; to?: Date | undefined }
  /** Only rows after this id, for paging. */
  after?: string
  /** @default 1000 */
  limit?: number
  /** By id, which is by birth. @default 'asc' */
  order?: 'asc' | 'desc'
}

export interface Update<C extends Collection> {
  set: Partial<Row<C>>
  /** Only where the row still has these values: compare and set. */
  where?: Partial<Row<C>>
}

export interface Transaction {
  get<C extends Collection>(collection: C, id: string): Promise<Row<C> | undefined>
  list<C extends Collection>(collection: C, query?: ListQuery<C>): Promise<Row<C>[]>
  /** `conflict` where a unique key is taken, `not-found` where its parent is missing. */
  insert<C extends Collection>(collection: C, row: Row<C>): Promise<void>
  /** Many at once, for what is written in batches: as fast as the driver can, all or nothing as ever. */
  insertAll<C extends Collection>(collection: C, rows: readonly Row<C>[]): Promise<void>
  /**
   * The changed row, or undefined where there is none to change. One step: no other write comes between. An empty
   * `set` changes and tells nothing, and gives the row as it is.
   */
  update<C extends Collection>(collection: C, id: string, change: Update<C>): Promise<Row<C> | undefined>
  /** Whether there was one. Children go with it. */
  delete(collection: Collection, id: string): Promise<boolean>
}

/** `lost`: changes may be missed from now on. `live`: watching (again); whatever was cached before may be old. */
export type Change =
  | { kind: 'row'; collection: Collection; userId: string; id: string }
  | { kind: 'live' }
  | { kind: 'lost' }

export interface Storage {
  readonly name: string
  transaction<T>(access: Access, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Tells of every committed change until the returned function is called. Resolves once it is watching. */
  watch(listener: (change: Change) => void): Promise<() => void>
  /** Keys for the credentials in it, where it keeps some beside them: used by a host that is given none. */
  readonly keyRing?: (() => Promise<KeyRing>) | undefined
  /** Opens and migrates, once; every other method waits for it by itself. */
  ready(): Promise<void>
  close(): Promise<void>
}

/** Reads on the way of every call, kept in memory while nothing changed (see `read-cache.ts`). */
export interface CacheKey {
  userId: string
  /** What is read, for example `toolkits`. */
  name: string
}

export interface ReadCache {
  /** The kept value, or what `load` gives. `collections` are what it was made of: a change in one drops it. */
  read<T>(key: CacheKey, collections: readonly Collection[], load: () => Promise<T>): Promise<T>
  close(): void
}

/** Drivers that keep a folder can copy it while they run. */
export interface BackupStorage extends Storage {
  backup(): Promise<Uint8Array>
}

export const DEFAULT_LIST_LIMIT = 1000
