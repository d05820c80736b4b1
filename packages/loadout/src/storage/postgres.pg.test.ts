import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { getTableName } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase, createEmptyDatabase } from '../../../../test/database.ts'
import { programPath } from '../../../../test/program-path.ts'
import { provenWithin } from '../../../../test/prove/work.ts'
import { eventually } from '../testing/check.ts'
import { sampleThreadRow } from '../testing/suites/storage/rows.ts'
import { storageSuite } from '../testing/suites/storage/suite.ts'
import { COLLECTION_NAMES, COLLECTIONS, SYSTEM_CALLERS } from './collections.ts'
import { postgres } from './postgres.ts'
import { MIGRATIONS } from './sql/migrations/embedded.ts'
import { TABLES } from './sql/tables.ts'
import type { Change } from './storage.ts'

const serverUrl = inject('postgresUrl')

describe('storage: postgres', () => {
  const dropped: Array<() => Promise<void>> = []
  afterAll(() => Promise.all(dropped.map((drop) => drop())))
  const open = async () => {
    const { url, drop } = await createDatabase(serverUrl)
    dropped.push(drop)
    return postgres({ url, maxConnections: 4 })
  }
  for (const { name, run } of storageSuite(open)) it(name, run)
})

describe('several processes on one PostgreSQL', () => {
  let url: string
  let drop: () => Promise<void>
  beforeAll(async () => {
    ;({ url, drop } = await createEmptyDatabase(serverUrl))
  })
  afterAll(() => drop())

  it('run one migration and are all ready when ten start on an empty database', async () => {
    const script = programPath(fileURLToPath(new URL('../../test/fixtures/open-storage.ts', import.meta.url)))
    const children = Array.from({ length: 10 }, () =>
      spawn(process.execPath, [script, url], { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    const outcomes = await Promise.all(
      children.map(async (child) => {
        let output = ''
        child.stdout.on('data', (data) => {
          output += data
        })
        const [code] = await once(child, 'exit')
        return `${code} ${output.trim()}`
      }),
    )
    expect(outcomes).toEqual(Array(10).fill('0 ready'))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      'select count(*)::int as applied, count(distinct hash)::int as different from loadout_migrations.applied',
    )
    await client.end()
    expect(rows).toEqual([{ applied: MIGRATIONS.length, different: MIGRATIONS.length }])
  })

  it('notify each other of changes, even after a listener reconnects', async () => {
    const [one, two] = [postgres({ url }), postgres({ url })]
    const changes: Change[] = []
    await two.watch((change) => changes.push(change))
    const insert = async () => {
      const row = sampleThreadRow('ann')
      await one.transaction({ userId: 'ann' }, (tx) => tx.insert('threads', row))
      await eventually(
        () => changes.some((c) => c.kind === 'row' && c.id === row.threadId),
        'the other process is told',
      )
    }
    await provenWithin(1000, insert)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen loadout_changes'`)
    await client.end()
    await eventually(() => changes.some((c) => c.kind === 'lost'), 'the loss is told')
    await eventually(() => changes.at(-1)?.kind === 'live', 'it listens again')
    await insert()
    await Promise.all([one.close(), two.close()])
  })

  it('report a missing database as unavailable', async () => {
    await expect(postgres({ url: 'postgres://nobody@127.0.0.1:1/none' }).ready()).rejects.toMatchObject({
      code: 'storage-unavailable',
    })
  })
})

describe('the database schema', () => {
  let client: pg.Client
  let drop: () => Promise<void>
  beforeAll(async () => {
    const database = await createDatabase(serverUrl)
    drop = database.drop
    const storage = postgres({ url: database.url })
    await storage.ready()
    await storage.close()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await drop()
  })

  const policies = async () => {
    const { rows } = await client.query(
      `select tablename as table, policyname as name, cmd, roles::text[] as roles, qual, with_check from pg_policies where schemaname = 'mcp'`,
    )
    return rows as Array<{
      table: string
      name: string
      cmd: string
      roles: string[]
      qual: string | null
      with_check: string | null
    }>
  }

  it('has tables owned by a role that cannot log in, with forced row-level security', async () => {
    const { rows } = await client.query(
      `select relname, relrowsecurity, relforcerowsecurity, pg_get_userbyid(relowner) as owner from pg_class c
       join pg_namespace n on n.oid = c.relnamespace where nspname = 'mcp' and relkind = 'r' order by 1`,
    )
    expect(rows.map((row) => row.relname)).toEqual(COLLECTION_NAMES.map((name) => getTableName(TABLES[name])).sort())
    for (const row of rows)
      expect(row).toMatchObject({ relrowsecurity: true, relforcerowsecurity: true, owner: 'loadout_owner' })
  })

  it('has the user policies of the collection table', async () => {
    const all = await policies()
    for (const name of COLLECTION_NAMES) {
      const spec = COLLECTIONS[name]
      const mine = all.filter(
        (policy) => policy.table === getTableName(TABLES[name]) && policy.roles.includes('loadout_user'),
      )
      const expected = {
        write: ['user_delete', 'user_insert', 'user_read', 'user_update'],
        append: ['user_insert', 'user_read'],
        read: ['user_read'],
        nothing: [],
      }
      expect(mine.map((policy) => policy.name).sort(), name).toEqual(
        spec.owner === 'shared' ? ['everyone_reads'] : expected[spec.userMay],
      )
      const read = mine.find((policy) => policy.name === 'user_read')
      if (read) expect(read.qual?.includes("user_id = ''::text"), name).toBe(spec.appRows)
    }
  })

  it('has exactly the listed policies for system callers', async () => {
    const found = (await policies())
      .filter((policy) => policy.name.startsWith('caller:'))
      .map((policy) => `${policy.table} ${policy.name}`)
    const expected = Object.entries(SYSTEM_CALLERS).flatMap(([caller, reach]) =>
      Object.entries(reach).map(
        ([collection, how]) => `${getTableName(TABLES[collection as keyof typeof TABLES])} caller:${caller}:${how}`,
      ),
    )
    expect(found.sort()).toEqual(expected.sort())
    expect(Object.keys(SYSTEM_CALLERS)).toEqual([
      'sign-in',
      'introspection',
      'app-config',
      'app-credentials',
      'sign-in-callback',
      'key-rotation',
      'audit-shipping',
      'audit-reading',
      'housekeeping',
      'embedding',
      'run-engine',
      'presence',
      'key-admin',
      'user-admin',
    ])
  })

  it('has the keys, unique keys and cascades of the collection table', async () => {
    const { rows } = await client.query(
      `select c.conrelid::regclass::text as table, c.contype as type, c.confdeltype as on_delete,
         (select array_agg(a.attname order by k.n) from unnest(c.conkey) with ordinality k(num, n) join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num)::text[] as columns
       from pg_constraint c where c.connamespace = 'mcp'::regnamespace and c.contype in ('p', 'u', 'f')`,
    )
    for (const name of COLLECTION_NAMES) {
      const spec = COLLECTIONS[name]
      const table = getTableName(TABLES[name])
      const mine = rows.filter((row) => row.table === `mcp.${table}` || row.table === `mcp."${table}"`)
      const owner = spec.owner === 'user' ? ['user_id'] : []
      const columns = (fields: readonly string[]) => [
        ...owner,
        ...fields.map((field) => TABLES[name][field as never] as { name: string }).map((column) => column.name),
      ]
      expect(
        mine.filter((row) => row.type === 'p').map((row) => row.columns),
        name,
      ).toEqual([columns([spec.id])])
      expect(
        mine
          .filter((row) => row.type === 'u')
          .map((row) => row.columns)
          .sort(),
        name,
      ).toEqual(spec.unique.map((fields) => columns(fields)).sort())
      const foreign = mine
        .filter((row) => row.type === 'f')
        .map((row) => ({ columns: row.columns, onDelete: row.on_delete }))
      expect(foreign, name).toEqual(spec.parent ? [{ columns: columns([spec.parent.field]), onDelete: 'c' }] : [])
    }
  })

  it('has change triggers on watched tables with the field that the collection table names', async () => {
    const { rows } = await client.query(
      `select tgrelid::regclass::text as table, encode(tgargs, 'escape') as args from pg_trigger where tgname = 'tell_changes'`,
    )
    const triggers = rows.map((row) => String(row.args).split('\\000').slice(0, 3).join(' '))
    const expected = COLLECTION_NAMES.filter((name) => COLLECTIONS[name].watch).map((name) => {
      const spec = COLLECTIONS[name]
      const column = TABLES[name][spec.watch as never] as { name: string }
      return `${name} ${column.name} ${spec.owner === 'shared' ? 'shared' : 'user'}`
    })
    expect(triggers.sort()).toEqual(expected.sort())
  })
})
