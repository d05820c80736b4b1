/** Roles belong to the cluster, so this test needs a server on which nobody has created them. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { startPostgres } from '../../../../test/start-postgres.ts'
import { postgres } from '../../src/storage/postgres.ts'
import { sampleThreadRow } from '../../src/testing/suites/storage/rows.ts'

it('a login that may create roles and is no superuser migrates and works', async () => {
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
    await client.end()
    const again = postgres({ url: url.replace(/app$/, 'again') })
    await again.ready()
    await again.close()
  } finally {
    await stop()
  }
})
