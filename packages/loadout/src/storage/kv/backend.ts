import type { Collection } from '../collections.ts'

export type RowObject = Record<string, unknown>

/** A write that a commit applies; `row` undefined deletes. */
export interface Write {
  collection: Collection
  owner: string
  id: string
  row: RowObject | undefined
  /** What the draft found there, so that a deletion can still be told by its fields. */
  before: RowObject | undefined
}

/** What an embedded driver brings: rows by (owner, id), and a commit that is all or nothing. */
export interface Backend {
  get(collection: Collection, owner: string, id: string): Promise<RowObject | undefined>
  /** All rows of an owner, or of everyone. */
  scan(collection: Collection, owner?: string): Promise<RowObject[]>
  /**
   * Whether a row of the owner holds this key of these fields, where the backend keeps an index of them; without one, rows
   * are looked through.
   */
  hasKey?(collection: Collection, owner: string, key: UniqueKey): boolean
  commit(writes: Write[]): Promise<void>
  /** Runs one piece of work at a time, over all who share the data. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export interface UniqueKey {
  fields: readonly string[]
  value: unknown
}

/** What of a row must not be there twice, as one value that can be compared. */
export function keyOf(row: RowObject, fields: readonly string[]): unknown {
  const [first = ''] = fields
  // Most keys are one text, and there may be many of them.
  return fields.length === 1 && typeof row[first] === 'string'
    ? row[first]
    : JSON.stringify(fields.map((field) => row[field]))
}
