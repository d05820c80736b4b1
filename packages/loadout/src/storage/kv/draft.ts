/**
 * Transaction of the embedded drivers: writes stay in a draft until the commit, and reads use the draft before the
 * backend. Rows are copied on reads and writes, so that callers never share a stored object.
 */
import { HostError } from '../../errors.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import { assertCollection, assertMay, may, ownerOf, rowOwner } from '../access.ts'
import { checkFields, checkRow, hasNul } from '../check-row.ts'
import { COLLECTION_NAMES, type Collection, type Row, specOf } from '../collections.ts'
import { type Access, DEFAULT_LIST_LIMIT, type RowQuery, type Transaction, type Update } from '../storage.ts'
import { type Backend, type RowObject, rowKey, type Write } from './backend.ts'

export class Draft implements Transaction {
  readonly #writes = new Map<string, Write>()
  readonly #access: Access
  readonly #backend: Backend

  constructor(access: Access, backend: Backend) {
    this.#access = access
    this.#backend = backend
  }

  get writes(): Write[] {
    return [...this.#writes.values()]
  }

  async get<C extends Collection>(collection: C, id: string): Promise<Row<C> | undefined> {
    assertCollection(this.#access, 'read', collection)
    const owner = ownerOf(this.#access, collection)
    const owners = specOf(collection).appRows && owner !== APP_OWNER ? [owner, APP_OWNER] : [owner]
    for (const candidate of owners) {
      const row =
        may(this.#access, 'read', { collection, owner: candidate }) && (await this.#find(collection, candidate, id))
      if (row) return structuredClone(row) as Row<C>
    }
    return undefined
  }

  async list<C extends Collection>(collection: C, query: RowQuery<C> = {}): Promise<Row<C>[]> {
    assertCollection(this.#access, 'read', collection)
    const { where = {}, between, after, limit = DEFAULT_LIST_LIMIT, order = 'asc' } = query
    if (hasNul([where, after])) return []
    const { id } = specOf(collection)
    const direction = order === 'asc' ? 1 : -1
    const rows = (await this.#scan(collection))
      .filter((row) => matches(row, where) && (!between || isBetween(row[between.field], between)))
      .filter((row) => after === undefined || compare(String(row[id]), after) * direction > 0)
      .sort((a, b) => direction * compare(String(a[id]), String(b[id])))
    return rows.slice(0, limit).map((row) => structuredClone(row) as Row<C>)
  }

  insert<C extends Collection>(collection: C, row: Row<C>): Promise<void> {
    return this.insertAll(collection, [row])
  }

  async insertAll<C extends Collection>(collection: C, rows: readonly Row<C>[]): Promise<void> {
    assertCollection(this.#access, 'insert', collection)
    const writes = rows.map((row) => {
      checkRow(collection, row)
      const address = this.#address(collection, row)
      assertMay(this.#access, 'insert', { collection, owner: address.owner })
      return { ...address, row: structuredClone(row) as RowObject }
    })
    for (const [owner, own] of Map.groupBy(writes, (write) => write.owner)) {
      const isTaken = await this.#takenIn(collection, owner)
      for (const write of own) {
        const fields = isTaken(write.row)
        if (fields) throw conflict(collection, fields)
        await this.#assertParent(collection, write)
        this.#write({ collection, ...write, before: undefined })
      }
    }
  }

  /** Returns the taken unique key of a row, or reserves all its keys. */
  async #takenIn(collection: Collection, owner: string): Promise<(row: RowObject) => readonly string[] | undefined> {
    const { id, unique } = specOf(collection)
    const isDrafted = this.writes.some((write) => write.collection === collection && write.owner === owner)
    // The backend's index does not contain drafted rows.
    const index = isDrafted ? undefined : this.#backend.hasKey
    const rows = index ? [] : await this.#rows(collection, owner)
    const keys = [[id], ...unique].map((fields) => ({
      fields,
      existing: new Set(rows.map((row) => rowKey(row, fields))),
    }))
    return (row) => {
      const values = keys.map(({ fields }) => rowKey(row, fields))
      const taken = keys.find(
        ({ fields, existing }, at) =>
          existing.has(values[at]) || index?.(collection, owner, { fields, value: values[at] }),
      )
      if (taken) return taken.fields
      for (const [at, { existing }] of keys.entries()) existing.add(values[at])
      return undefined
    }
  }

  async update<C extends Collection>(collection: C, id: string, change: Update<C>): Promise<Row<C> | undefined> {
    assertCollection(this.#access, 'change', collection)
    checkFields(collection, change.set)
    const owner = ownerOf(this.#access, collection)
    const current = await this.#find(collection, owner, id)
    if (!current || !may(this.#access, 'change', { collection, owner })) return undefined
    if (!matches(current, change.where)) return undefined
    if (Object.keys(change.set).length === 0) return structuredClone(current) as Row<C>
    const row = { ...current, ...change.set }
    const moved = this.#address(collection, row)
    if (moved.owner !== owner || moved.id !== id)
      throw new HostError('forbidden', { detail: `A row of "${collection}" keeps its owner and its id.` })
    checkRow(collection, row)
    await this.#put(collection, { owner, id, row })
    return structuredClone(row) as Row<C>
  }

  async delete(collection: Collection, id: string): Promise<boolean> {
    assertCollection(this.#access, 'change', collection)
    const owner = ownerOf(this.#access, collection)
    const current = await this.#find(collection, owner, id)
    if (!current || !may(this.#access, 'change', { collection, owner })) return false
    await this.#remove(collection, owner, id)
    return true
  }

  async #remove(collection: Collection, owner: string, id: string): Promise<void> {
    this.#write({ collection, owner, id, row: undefined, before: await this.#find(collection, owner, id) })
    for (const child of COLLECTION_NAMES) {
      const { parent, id: childId } = specOf(child)
      if (parent?.collection !== collection) continue
      for (const row of await this.#rows(child, owner))
        if (row[parent.field] === id) await this.#remove(child, owner, String(row[childId]))
    }
  }

  async #put(collection: Collection, write: { owner: string; id: string; row: RowObject }): Promise<void> {
    const { unique } = specOf(collection)
    const row = structuredClone(write.row)
    const siblings = await this.#rows(collection, write.owner)
    for (const fields of unique) {
      const taken = siblings.some(
        (other) =>
          String(other[specOf(collection).id]) !== write.id && fields.every((field) => same(other[field], row[field])),
      )
      if (taken) throw conflict(collection, fields)
    }
    await this.#assertParent(collection, { owner: write.owner, row })
    this.#write({ collection, owner: write.owner, id: write.id, row, before: undefined })
  }

  async #assertParent(collection: Collection, { owner, row }: { owner: string; row: RowObject }): Promise<void> {
    const { parent } = specOf(collection)
    if (!parent || (await this.#find(parent.collection as Collection, owner, String(row[parent.field])))) return
    throw new HostError('not-found', { detail: `The row of "${parent.collection}" that this belongs to is not there.` })
  }

  async #scan(collection: Collection): Promise<RowObject[]> {
    const { owner: kind, appRows } = specOf(collection)
    const { userId, caller } = this.#access
    const rows =
      caller === undefined && kind === 'user'
        ? [...(await this.#rows(collection, userId)), ...(appRows ? await this.#rows(collection, APP_OWNER) : [])]
        : await this.#rows(collection)
    return rows.filter((row) => may(this.#access, 'read', { collection, owner: rowOwner(collection, row) }))
  }

  async #rows(collection: Collection, owner?: string): Promise<RowObject[]> {
    const { id } = specOf(collection)
    const stored = await this.#backend.scan(collection, owner)
    const drafted = this.writes.filter(
      (write) => write.collection === collection && (owner === undefined || write.owner === owner),
    )
    if (drafted.length === 0) return stored
    const hidden = new Set(drafted.map((write) => key(collection, write.owner, write.id)))
    const unchanged = stored.filter((row) => !hidden.has(key(collection, rowOwner(collection, row), String(row[id]))))
    return [...unchanged, ...drafted.flatMap((write) => (write.row ? [write.row] : []))]
  }

  async #find(collection: Collection, owner: string, id: string): Promise<RowObject | undefined> {
    const drafted = this.#writes.get(key(collection, owner, id))
    return drafted ? drafted.row : this.#backend.get(collection, owner, id)
  }

  #write(write: Write): void {
    this.#writes.set(key(write.collection, write.owner, write.id), write)
  }

  #address(collection: Collection, row: RowObject): { owner: string; id: string } {
    return { owner: rowOwner(collection, row), id: String(row[specOf(collection).id]) }
  }
}

const key = (...parts: [Collection, string, string]) => JSON.stringify(parts)
// Code units, like PostgreSQL's "C" collation for ASCII IDs.
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const same = (a: unknown, b: unknown) =>
  a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : a === b

const matches = (row: RowObject, where: RowObject = {}) =>
  Object.entries(where).every(([field, value]) => same(row[field], value))

const isBetween = (value: unknown, { from, to }: { from?: Date | undefined; to?: Date | undefined }) =>
  value instanceof Date && (from === undefined || value >= from) && (to === undefined || value <= to)

function conflict(collection: Collection, fields: readonly string[]): HostError {
  return new HostError('conflict', {
    detail: `A row of "${collection}" with the same ${fields.join(' and ')} is already there.`,
    errors: fields.map((path) => ({ path, message: 'is already taken' })),
  })
}
