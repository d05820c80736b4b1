import type { Collection } from '../collections.ts'

export type RowObject = Record<string, unknown>

/** A write of a commit; `row` undefined deletes. */
export interface Write {
  collection: Collection
  owner: string
  id: string
  row: RowObject | undefined
  /** Row before a deletion, so that watchers get its fields. */
  before: RowObject | undefined
}

/** Rows by (owner, ID) with an atomic commit, for the embedded drivers. */
export interface Backend {
  get(collection: Collection, owner: string, id: string): Promise<RowObject | undefined>
  /** All rows of an owner, or of everyone. */
  scan(collection: Collection, owner?: string): Promise<RowObject[]>
  /** Whether a row of the owner has this unique key. Optional index; without it all rows are scanned. */
  hasKey?(collection: Collection, owner: string, key: UniqueKey): boolean
  commit(writes: Write[]): Promise<void>
  /** Runs one task at a time, across all users of the data. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export interface UniqueKey {
  fields: readonly string[]
  value: unknown
}

/** Value of a unique key, for comparison. */
export function rowKey(row: RowObject, fields: readonly string[]): unknown {
  const [first = ''] = fields
  // Most keys are one string, and there may be many of them.
  return fields.length === 1 && typeof row[first] === 'string'
    ? row[first]
    : JSON.stringify(fields.map((field) => row[field]))
}
