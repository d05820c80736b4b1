/** Queries for PGlite and PostgreSQL. Row-level security limits the visible rows. */
import { and, asc, desc, eq, getTableColumns, gt, gte, isNull, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgDatabase, PgQueryResultHKT, PgTable } from 'drizzle-orm/pg-core'
import { HostError } from '../../errors.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import { assertCollection, changeRecipient, ownerOf, rowOwner } from '../access.ts'
import { checkFields, checkRow, hasNul } from '../check-row.ts'
import { COLLECTION_NAMES, type Collection, type Row, specOf } from '../collections.ts'
import {
  type Access,
  type Change,
  DEFAULT_LIST_LIMIT,
  type RowQuery,
  type Transaction,
  type Update,
} from '../storage.ts'
import { TABLES } from './tables.ts'

export type Database = PgDatabase<PgQueryResultHKT, Record<string, never>>

type RowObject = Record<string, unknown>
type Statements = Pick<Database, 'select' | 'insert' | 'update' | 'delete' | 'execute'>

export class SqlTransaction implements Transaction {
  readonly changes: Change[] = []
  readonly #recorded = new Set<string>()
  readonly #db: Statements
  readonly #access: Access

  constructor(db: Statements, access: Access) {
    this.#db = db
    this.#access = access
  }

  async get<C extends Collection>(collection: C, id: string): Promise<Row<C> | undefined> {
    assertCollection(this.#access, 'read', collection)
    const { table, columns } = tableOf(collection)
    const owner = ownerOf(this.#access, collection)
    if (hasNul(id)) return undefined
    const rows = await this.#db
      .select()
      .from(table)
      .where(eq(column(columns, specOf(collection).id), id))
    const visible = specOf(collection).appRows ? [owner, APP_OWNER] : [owner]
    for (const candidate of visible) {
      const row = rows.find((found) => rowOwner(collection, found) === candidate)
      if (row) return row as Row<C>
    }
    return undefined
  }

  async list<C extends Collection>(collection: C, query: RowQuery<C> = {}): Promise<Row<C>[]> {
    assertCollection(this.#access, 'read', collection)
    const { where = {}, between, after, limit = DEFAULT_LIST_LIMIT, order = 'asc' } = query
    if (hasNul([where, after])) return []
    const { table, columns } = tableOf(collection)
    const id = column(columns, specOf(collection).id)
    const conditions = conditionsOf(collection, where)
    if (between?.from) conditions.push(gte(column(columns, between.field), between.from))
    if (between?.to) conditions.push(lte(column(columns, between.field), between.to))
    if (after !== undefined) conditions.push(order === 'asc' ? gt(id, after) : lt(id, after))
    const rows = await this.#db
      .select()
      .from(table)
      .where(and(...conditions))
      .orderBy(order === 'asc' ? asc(id) : desc(id))
      .limit(limit)
    return rows as Row<C>[]
  }

  async insert<C extends Collection>(collection: C, row: Row<C>): Promise<void> {
    assertCollection(this.#access, 'insert', collection)
    checkRow(collection, row)
    const { table } = tableOf(collection)
    await this.#db.insert(table).values(row as never)
    this.#recordChange(collection, row)
  }

  // One JSON parameter, because a statement with one parameter per field takes longer to build than to run.
  async insertAll<C extends Collection>(collection: C, rows: readonly Row<C>[]): Promise<void> {
    assertCollection(this.#access, 'insert', collection)
    for (const row of rows) checkRow(collection, row)
    if (rows.length === 0) return
    const { table, columns } = tableOf(collection)
    const fields = Object.entries(columns)
    const named = (row: RowObject) => Object.fromEntries(fields.map(([field, { name }]) => [name, row[field]]))
    const names = sql.join(
      fields.map(([, { name }]) => sql.identifier(name)),
      sql`, `,
    )
    await this.#db.execute(sql`insert into ${table} (${names})
      select ${names} from json_populate_recordset(null::${table}, ${JSON.stringify(rows.map(named))}::json)`)
    for (const row of rows) this.#recordChange(collection, row)
  }

  async update<C extends Collection>(
    collection: C,
    id: string,
    { set, where }: Update<C>,
  ): Promise<Row<C> | undefined> {
    assertCollection(this.#access, 'change', collection)
    checkFields(collection, set)
    if (hasNul([id, where])) return undefined
    const { table } = tableOf(collection)
    const condition = and(this.#at(collection, id), ...conditionsOf(collection, where))
    if (Object.keys(set).length === 0) {
      const [unchanged] = await this.#db.select().from(table).where(condition)
      return unchanged as Row<C> | undefined
    }
    const [row] = await this.#db
      .update(table)
      .set(set as never)
      .where(condition)
      .returning()
    if (!row) return undefined
    if (
      rowOwner(collection, row as RowObject) !== ownerOf(this.#access, collection) ||
      (row as RowObject)[specOf(collection).id] !== id
    )
      throw new HostError('forbidden', { detail: `A row of "${collection}" keeps its owner and its id.` })
    checkRow(collection, row as RowObject)
    this.#recordChange(collection, row as RowObject)
    return row as Row<C>
  }

  async delete(collection: Collection, id: string): Promise<boolean> {
    assertCollection(this.#access, 'change', collection)
    if (hasNul(id)) return false
    const { table } = tableOf(collection)
    const [row] = await this.#db.delete(table).where(this.#at(collection, id)).returning()
    if (!row) return false
    this.#recordChange(collection, row as RowObject)
    this.#recordChildChanges(collection, row as RowObject)
    return true
  }

  #at(collection: Collection, id: string): SQL | undefined {
    const { columns } = tableOf(collection)
    const byId = eq(column(columns, specOf(collection).id), id)
    if (specOf(collection).owner !== 'user') return byId
    return and(eq(column(columns, 'userId'), ownerOf(this.#access, collection)), byId)
  }

  #recordChange(collection: Collection, row: RowObject): void {
    const { watch } = specOf(collection)
    if (watch === undefined) return
    const userId = changeRecipient(collection, row)
    const id = String(row[watch])
    const key = JSON.stringify([collection, userId, id])
    // Several changes of the same ID in one transaction are reported once.
    if (this.#recorded.has(key)) return
    this.#recorded.add(key)
    this.changes.push({ kind: 'row', collection, userId, id })
  }

  // The database deletes children by cascade, so their changes are recorded here.
  #recordChildChanges(collection: Collection, row: RowObject): void {
    const id = String(row[specOf(collection).id])
    for (const child of COLLECTION_NAMES) {
      const { parent, watch } = specOf(child)
      if (parent?.collection === collection && watch === parent.field)
        this.changes.push({ kind: 'row', collection: child, userId: changeRecipient(collection, row), id })
    }
  }
}

function tableOf(collection: Collection): { table: PgTable; columns: Record<string, PgColumn> } {
  const table: PgTable = TABLES[collection]
  return { table, columns: getTableColumns(table) }
}

function conditionsOf(collection: Collection, where: RowObject = {}): SQL[] {
  const { columns } = tableOf(collection)
  return Object.entries(where).map(([field, value]) =>
    value === null ? isNull(column(columns, field)) : eq(column(columns, field), value),
  )
}

function column(columns: Record<string, PgColumn>, field: string): PgColumn {
  const found = Object.hasOwn(columns, field) ? columns[field] : undefined
  if (!found) throw new HostError('internal', { detail: `There is no field "${field}" to ask for.` })
  return found
}
