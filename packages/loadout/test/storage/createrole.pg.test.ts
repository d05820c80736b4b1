/** Roles belong to the cluster, so this test needs a server on which nobody has created them. */
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { expect, it } from 'vitest'
import { startPostgres } from '../../../../test/start-postgres.ts'
import { postgres } from '../../src/storage/postgres.ts'
import { MIGRATIONS } from '../../src/storage/sql/migrations/embedded.ts'
import { migrate } from '../../src/storage/sql/migrations.ts'
import { sampleThreadRow } from '../../src/testing/suites/storage/rows.ts'

it('a login that may create roles and is no superuser migrates, works and loses the default cap of an older release', async () => {
  const { url: serverUrl, stop } = await startPostgres()
  try {
    const client = new pg.Client({ connectionString: `${serverUrl}/postgres` })
    await client.connect()
    await client.query(`create role app login createrole nosuperuser password 'app'`)
    await client.query('create database app owner app')
    const url = `${serverUrl.replace('postgres:postgres@', 'app:app@')}/app`
    const [one, two] = [postgres({ url }), postgres({ url })]
    await one.transaction({ userId: 'ann' }, (tx) => tx.insert('threads', sampleThreadRow('ann')))
    expect(await two.transaction({ userId: 'ann' }, (tx) => tx.list('threads'))).toHaveLength(1)
    expect(await two.transaction({ userId: 'bob' }, (tx) => tx.list('threads'))).toEqual([])
    await two.transaction({ caller: 'sign-in' }, (tx) => tx.list('apiKeys'))
    await Promise.all([one.close(), two.close()])

    // A second database of the same login finds the roles there.
    await client.query('create database again owner app')
    await client.query('create database old owner app')
    await client.end()
    const again = postgres({ url: url.replace(/app$/, 'again') })
    await again.ready()
    await again.close()

    await expectNoDefaultCap(url.replace(/app$/, 'old'), `${serverUrl}/old`)
  } finally {
    await stop()
  }
})

/** The cap that an older release stored by default goes with the upgrade; a chosen one stays. */
async function expectNoDefaultCap(url: string, adminUrl: string): Promise<void> {
  const login = new pg.Client({ connectionString: url })
  await login.connect()
  await migrate(drizzle(login), MIGRATIONS.slice(0, 17))
  await login.end()
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const rows = [
    ['ann', { maxServersPerThread: 16, theme: 'dark' }],
    ['bob', { maxServersPerThread: 5 }],
  ]
  for (const [user, value] of rows)
    await admin.query(`insert into mcp.preferences values ('preferences', $1, $2)`, [user, value])
  await admin.end()
  const storage = postgres({ url })
  const storedOf = (userId: string) =>
    storage.transaction({ userId }, async (tx) => (await tx.get('preferences', 'preferences'))?.valueJson)
  expect(await storedOf('ann')).toEqual({ theme: 'dark' })
  expect(await storedOf('bob')).toEqual({ maxServersPerThread: 5 })
  await storage.close()
}
