import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { admin, createEmptyDatabase } from '../../../../test/database.ts'
import { postgres } from '../../src/storage/postgres.ts'
import type { enterTransaction } from '../../src/storage/sql/sql-storage.ts'
import { verifyTenancy } from '../../src/storage/sql/verify-tenancy.ts'
import { runTenancy, type TenancyOptions } from '../fixtures/tenancy-model.ts'

const serverUrl = inject('postgresUrl')
const OPERATIONS = process.env.LOADOUT_PROVE === 'full' ? 100_000 : 5_000
const PLANTED_WITHIN = 4000
const SEED = 20_261_115

let url: string
let drop: () => Promise<void>

beforeEach(async () => {
  const database = await createEmptyDatabase(serverUrl)
  drop = database.drop
  const roles = ['loadout_owner', 'loadout_user', 'loadout_system']
  // As in production: the server logs in as an ordinary role, because a superuser passes every policy.
  await admin(
    database.url,
    ...['app_login', ...roles].map(
      (role) => `do $$ begin create role ${role}; exception when duplicate_object then null; end $$`,
    ),
    `alter role app_login login password 'app' nosuperuser nobypassrls`,
    `grant ${roles.join(', ')} to app_login`,
    `alter database ${database.url.split('/').at(-1)} owner to app_login`,
  )
  url = database.url.replace('postgres:postgres@', 'app_login:app@')
  const storage = postgres({ url })
  await storage.ready()
  await storage.close()
})
afterEach(() => drop())

const run = (options: Partial<TenancyOptions>) => runTenancy({ url, seed: SEED, operations: OPERATIONS, ...options })

describe('users on one PostgreSQL', () => {
  it(`share no data in ${OPERATIONS} random operations, including failed transactions`, async () => {
    const report = await run({})
    expect(report.findings).toEqual([])
    expect(report).toMatchObject({ crossReads: 0, crossWrites: 0 })
    expect(report.operations).toBeGreaterThanOrEqual(OPERATIONS)
    expect(report.failedTransactions).toBeGreaterThan(OPERATIONS / 20)
  }, 600_000)
})

/** Plain SET: it outlives the transaction and waits for the next borrower of the connection. */
const plainSet: typeof enterTransaction = async (tx, access, origin) => {
  const role = access.caller === undefined ? 'loadout_user' : 'loadout_system'
  await tx.execute(sql`select set_config('role', ${role}, true), set_config('loadout.user_id', ${access.userId ?? ''}, false),
    set_config('loadout.caller', ${access.caller ?? ''}, false), set_config('loadout.origin', ${origin}, true)`)
}

interface Mistake {
  plant?: string[]
  options?: Partial<TenancyOptions>
  /** What the check at each start says, where the mistake is in the database. */
  reports?: RegExp
}

const MISTAKES: Record<string, Mistake> = {
  'plain SET': { options: { enter: plainSet } },
  'a missing policy': { plant: ['drop policy user_update on mcp.threads'] },
  'row-level security that was never enabled': {
    plant: ['alter table mcp.threads disable row level security'],
    reports: /"threads" has no row-level security/,
  },
  'missing FORCE': {
    plant: ['alter table mcp.threads no force row level security'],
    reports: /"threads" does not force/,
  },
  'a view without security_invoker': {
    plant: [
      'create view mcp.all_threads as select * from mcp.threads',
      'grant select on mcp.all_threads to loadout_user',
    ],
    reports: /view "all_threads" is without security_invoker/,
  },
  'a cache key without the user': { options: { cacheKey: () => ({ userId: 'everyone', name: 'threads' }) } },
}

describe('the tenancy checks find', () => {
  for (const [name, { plant = [], options = {}, reports }] of Object.entries(MISTAKES)) {
    it(name, async () => {
      const asSuperuser = url.replace('app_login:app@', 'postgres:postgres@')
      const planting = { plant: () => admin(asSuperuser, ...plant) }
      const report = await run({ operations: PLANTED_WITHIN, stopEarly: true, ...planting, ...options })
      expect(report.findings.length).toBeGreaterThan(0)
      const problems = await problemsOf(url)
      if (reports) expect(problems.join('\n')).toMatch(reports)
      else expect(problems).toEqual([])
    })
  }

  it('no problem in an unmodified database', async () => {
    expect(await problemsOf(url)).toEqual([])
  })
})

async function problemsOf(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const problems = await verifyTenancy(drizzle(client) as never)
  await client.end()
  return problems
}
