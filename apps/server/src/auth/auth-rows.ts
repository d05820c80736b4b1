/**
 * better-auth adapter over the storage, used as caller `sign-in`, so that no user transaction reaches its rows.
 * Session tokens are stored as hashes; provider tokens are not stored.
 */
import { createHash } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'
import type { Transaction } from '@loadout/core/services'
import type { BetterAuthOptions } from 'better-auth'
import {
  type AdapterFactory,
  type CleanedWhere,
  type CustomAdapter,
  createAdapterFactory,
  type JoinConfig,
} from 'better-auth/adapters'

type RowObject = Record<string, unknown>
type Run = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>

const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))

/** Collection and field names of each better-auth model. Fields that are not listed are not stored. */
const MODELS = {
  user: {
    collection: 'users',
    id: 'userId',
    fields: {
      id: 'userId',
      ...same('email', 'name', 'emailVerified', 'role', 'disabledAt', 'lastSignInAt', 'createdAt', 'updatedAt'),
    },
  },
  account: {
    collection: 'accounts',
    id: 'accountId',
    fields: {
      id: 'accountId',
      providerId: 'provider',
      accountId: 'subject',
      password: 'passwordHash',
      ...same('userId', 'createdAt', 'updatedAt'),
    },
  },
  session: {
    collection: 'sessions',
    id: 'sessionId',
    fields: {
      id: 'sessionId',
      token: 'tokenHash',
      ipAddress: 'address',
      ...same('userId', 'expiresAt', 'userAgent', 'createdAt', 'updatedAt'),
    },
  },
} as const

const MAX_ROWS = 10_000
const MAX_JOINED = 100
const MAX_LENGTHS: Readonly<Record<string, number>> = { userAgent: 300, name: 200 }

export function authRows(storage: Storage) {
  let authOptions: BetterAuthOptions = {}
  const over = (run: Run): AdapterFactory<BetterAuthOptions> =>
    createAdapterFactory({
      config: {
        adapterId: 'loadout',
        supportsNumericIds: false,
        supportsJSON: true,
        transaction: (work) => run((tx) => work(over((inner) => inner(tx))(authOptions))),
      },
      adapter: () => adapterOf(run) as CustomAdapter,
    })
  const adapter = over((work) => storage.transaction({ caller: 'sign-in' }, work))
  return (options: BetterAuthOptions) => {
    authOptions = options
    return adapter(options)
  }
}

export const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

interface RowQuery {
  model: string
  where?: CleanedWhere[] | undefined
}
interface JoinedQuery extends RowQuery {
  join?: JoinConfig | undefined
}

async function find(tx: Transaction, { model, where = [] }: RowQuery): Promise<RowObject[]> {
  const exact = where.filter(({ operator }) => operator === 'eq')
  const query = {
    where: Object.fromEntries(
      exact.map((condition) => [fieldOf(model, condition.field), storedValue(model, condition)]),
    ),
  }
  const rows: RowObject[] = await tx.list(modelOf(model).collection, { ...query, limit: MAX_ROWS } as never)
  return rows.filter((row) => where.every((condition) => matches(row[fieldOf(model, condition.field)], condition)))
}

/** Reads a row with its joined rows in one transaction, such as a session with its user. */
async function withJoined(tx: Transaction, { join = {}, ...query }: JoinedQuery, row: RowObject): Promise<RowObject> {
  const data: RowObject = fromRow(query, row)
  for (const [model, { on, relation, limit = MAX_JOINED }] of Object.entries(join)) {
    const rows = await find(tx, { model, where: [equal(on.to, data[on.from])] })
    const found = rows.slice(0, limit).map((joined) => fromRow({ model }, joined))
    data[model] = relation === 'one-to-one' ? (found[0] ?? null) : found
  }
  return data
}

async function change(tx: Transaction, query: RowQuery & { update: unknown }): Promise<RowObject[]> {
  const { collection, id } = modelOf(query.model)
  const changed: RowObject[] = []
  for (const row of await find(tx, query)) {
    const set = toRow(query.model, query.update as RowObject)
    const written = await tx.update(collection, String(row[id]), { set: set as never })
    if (written) changed.push(written)
  }
  return changed
}

async function remove(tx: Transaction, query: RowQuery): Promise<number> {
  const { collection, id } = modelOf(query.model)
  const rows = await find(tx, query)
  for (const row of rows) await tx.delete(collection, String(row[id]))
  return rows.length
}

function adapterOf(run: Run) {
  return {
    create: ({ model, data }: { model: string; data: RowObject }) =>
      run(async (tx) => {
        const { collection, fields } = modelOf(model)
        const empty = Object.fromEntries(Object.values(fields).map((name) => [name, null]))
        await tx.insert(collection, { ...empty, ...toRow(model, data) } as never)
        return data
      }),
    findOne: (query: JoinedQuery) =>
      run(async (tx) => {
        const [row] = await find(tx, query)
        return row ? withJoined(tx, query, row) : null
      }),
    findMany: (query: JoinedQuery & { limit: number; offset?: number | undefined }) =>
      run(async (tx) => {
        const { limit, offset = 0 } = query
        const rows = (await find(tx, query)).slice(offset, offset + limit)
        const found: RowObject[] = []
        for (const row of rows) found.push(await withJoined(tx, query, row))
        return found
      }),
    count: (query: RowQuery) => run(async (tx) => (await find(tx, query)).length),
    update: (query: RowQuery & { update: unknown }) =>
      run(async (tx) => {
        const [row] = await change(tx, query)
        return row ? fromRow(query, row) : null
      }),
    updateMany: (query: RowQuery & { update: RowObject }) => run(async (tx) => (await change(tx, query)).length),
    delete: (query: RowQuery) => run(async (tx) => void (await remove(tx, query))),
    deleteMany: (query: RowQuery) => run((tx) => remove(tx, query)),
  }
}

function modelOf(model: string) {
  const found = Object.hasOwn(MODELS, model) ? MODELS[model as keyof typeof MODELS] : undefined
  if (!found) throw new HostError('internal', { detail: `There is no model "${model}" to sign in by.` })
  return found
}

function fieldOf(model: string, field: string): string {
  const fields: Record<string, string> = modelOf(model).fields
  const found = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (found === undefined) throw new HostError('internal', { detail: `There is no field "${field}" of "${model}".` })
  return found
}

const equal = (field: string, value: unknown) =>
  ({ field, value, operator: 'eq', connector: 'AND', mode: 'sensitive' }) as CleanedWhere

const isToken = (model: string, field: string) => model === 'session' && field === 'token'

function storedValue(model: string, { field, value }: Pick<CleanedWhere, 'field' | 'value'>): unknown {
  return isToken(model, field) && typeof value === 'string' ? hashOf(value) : value
}

/** Filters by operators other than `eq`; the storage has already applied `eq`. */
function matches(found: unknown, { operator, value, connector }: CleanedWhere): boolean {
  if (connector === 'OR') throw new HostError('internal', { detail: 'Rows of users are asked for by all conditions.' })
  if (operator === 'eq') return true
  if (operator === 'in' && Array.isArray(value)) return (value as unknown[]).includes(found)
  if (value instanceof Date && found instanceof Date) {
    if (operator === 'gt') return found > value
    if (operator === 'lt') return found < value
  }
  throw new HostError('internal', { detail: `Rows of users cannot be asked for by "${operator}".` })
}

function toRow(model: string, data: RowObject): RowObject {
  const row: RowObject = {}
  for (const [field, column] of Object.entries(modelOf(model).fields)) {
    const value = data[field]
    if (value === undefined) continue
    const stored = storedValue(model, { field, value: value as string })
    const maxLength = MAX_LENGTHS[field]
    row[column] = typeof stored === 'string' && maxLength !== undefined ? plain(stored).slice(0, maxLength) : stored
    if (column === 'address' && stored === '') row[column] = null
  }
  return row
}

/** Rows have no token, so `fromRow` copies it from the query. */
function fromRow({ model, where = [] }: RowQuery, row: RowObject): never {
  const { fields } = modelOf(model)
  const data = Object.fromEntries(Object.entries(fields).map(([field, column]) => [field, row[column]]))
  const token = where.find(({ field }) => isToken(model, field))?.value
  return (token === undefined ? data : { ...data, token }) as never
}

const plain = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
