/** What happens when the wire to PostgreSQL breaks, falls silent, or carries what is not ours. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { admin, createDatabase, createEmptyDatabase } from '../../../../test/database.ts'
import { type TcpProxy, tcpProxy } from '../../test/fixtures/tcp-proxy.ts'
import { eventually } from '../testing/check.ts'
import { threadRow } from '../testing/rows.ts'
import { postgres } from './postgres.ts'
import { createReadCache } from './read-cache.ts'
import { createListener } from './sql/postgres-listener.ts'
import type { Change, Transaction } from './storage.ts'

const serverUrl = inject('postgresUrl')
const ANN = { userId: 'ann' }
const list = (tx: Transaction) => tx.list('threads')

let url: string
let drop: () => Promise<void>
let proxy: TcpProxy

beforeAll(async () => {
  ;({ url, drop } = await createDatabase(serverUrl))
  const storage = postgres({ url })
  await storage.ready()
  await storage.close()
})
afterAll(() => drop())
beforeEach(async () => {
  proxy = await tcpProxy(url)
  return () => proxy.close()
})

describe('the connection that listens', () => {
  it('takes no harm from notifications that are not ours', async () => {
    const storage = postgres({ url })
    const heard: Change[] = []
    await storage.watch((change) => heard.push(change))
    const foreign = ['hello', '{', '7', 'null', '["threads"]', '["nothing","ann","x",null]', '["threads",1,2,3]']
    await admin(url, ...foreign.map((payload) => `notify loadout_changes, '${payload}'`))
    await admin(url, `notify loadout_changes, '["threads","ann","ours",null]'`)
    await eventually(() => heard.length > 1, 'ours is told')
    expect(heard.slice(1)).toEqual([{ kind: 'row', collection: 'threads', userId: 'ann', id: 'ours' }])
    await storage.close()
  })

  it('is one, also where the first attempt failed', async () => {
    const storage = postgres({ url: proxy.url })
    await storage.ready()
    proxy.refuse()
    await expect(storage.watch(() => {})).rejects.toMatchObject({ code: 'storage-unavailable' })
    proxy.pass()
    const heard: Change[] = []
    await storage.watch((change) => heard.push(change))
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await countListeners()).toBe(1)
    expect(heard).toEqual([{ kind: 'live' }])
    await storage.close()
  })

  it('is one again after several failed attempts to come back', async () => {
    const storage = postgres({ url: proxy.url })
    const heard: Change[] = []
    await storage.watch((change) => heard.push(change))
    proxy.refuse()
    await eventually(() => heard.at(-1)?.kind === 'lost', 'the loss is told')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    proxy.pass()
    await eventually(() => heard.at(-1)?.kind === 'live', 'it listens again', 5000)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await countListeners()).toBe(1)
    expect(heard.map((change) => change.kind)).toEqual(['live', 'lost', 'live'])
    await storage.close()
  })

  it('is noticed when it falls silent', async () => {
    const listener = createListener({ connectionString: proxy.url }, { heartbeatMs: 50, answerMs: 100 })
    const states: boolean[] = []
    await listener.start({ hear: () => {}, status: (live) => states.push(live) })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(states).toEqual([true])
    proxy.hush()
    await eventually(() => states.length === 3, 'it is lost and found', 3000)
    expect(states).toEqual([true, false, true])
    await listener.stop()
  })
})

describe('the connections that work', () => {
  it('a read cache whose first watch failed reads once the database is back', async () => {
    const storage = postgres({ url: proxy.url })
    const cache = createReadCache(storage)
    const read = () => cache.read({ userId: 'ann', name: 'n' }, ['threads'], () => storage.transaction(ANN, list))
    proxy.refuse()
    await expect(read()).rejects.toMatchObject({ code: 'storage-unavailable' })
    proxy.pass()
    expect(await read()).toEqual([])
    cache.close()
    await storage.close()
  })

  it('a transaction whose connection is cut is unavailable, not internal, and the next one works', async () => {
    const storage = postgres({ url: proxy.url, maxConnections: 1 })
    const cutting = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', threadRow('ann'))
      proxy.refuse()
      await tx.list('threads')
    })
    await expect(cutting).rejects.toMatchObject({ code: 'storage-unavailable', retryable: true })
    for (let i = 0; i < 3; i++)
      await expect(storage.transaction(ANN, list)).rejects.toMatchObject({ code: 'storage-unavailable' })
    proxy.pass()
    expect(await storage.transaction(ANN, list)).toEqual([])
    await storage.close()
  })

  it('a connection that is cut at the beginning of a transaction is given back', async () => {
    const storage = postgres({ url: proxy.url, maxConnections: 1, connectTimeoutMs: 1000 })
    await storage.transaction(ANN, list)
    proxy.cutAtNext()
    await expect(storage.transaction(ANN, list)).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(await storage.transaction(ANN, list)).toEqual([])
    await storage.close()
  })

  it('a session that the server ends in the middle is unavailable', async () => {
    const storage = postgres({ url, maxConnections: 1 })
    const ended = storage.transaction(ANN, async (tx) => {
      await tx.list('threads')
      await admin(
        url,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      await new Promise((resolve) => setTimeout(resolve, 50))
      await tx.list('threads')
    })
    await expect(ended).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(await storage.transaction(ANN, list)).toEqual([])
    await storage.close()
  })

  it('a pool that is used up is unavailable once the wait is over', async () => {
    const storage = postgres({ url, maxConnections: 1, connectTimeoutMs: 200 })
    await storage.transaction(ANN, async () => {
      await expect(storage.transaction(ANN, list)).rejects.toMatchObject({ code: 'storage-unavailable' })
    })
    await storage.close()
  })

  it('an error of the work itself stays what it is, even where it looks like ours', async () => {
    const storage = postgres({ url })
    const error = Object.assign(new Error('a key service is down'), { code: 'ECONNREFUSED' })
    const work = storage.transaction(ANN, async () => {
      throw error
    })
    await expect(work).rejects.toBe(error)
    await storage.close()
  })
})

describe('a wrong DATABASE_URL', () => {
  const wrong: Record<string, { url(): string; says: RegExp }> = {
    'a wrong password': { url: () => url.replace('postgres:postgres@', 'postgres:hunter2@'), says: /user or password/ },
    'no such user': { url: () => url.replace('postgres:postgres@', 'nobody:hunter2@'), says: /user or password/ },
    'no such database': { url: () => `${serverUrl}/nothing_here`, says: /no such database/ },
    'no URL at all': { url: () => 'postgres://hunter2 :bad:port', says: /not a postgres:/ },
  }
  for (const [what, { url: make, says }] of Object.entries(wrong))
    it(`${what} is told as such, without its secret`, async () => {
      const error = await postgres({ url: make() })
        .ready()
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringMatching(says) })
      expect(String((error as Error).message)).toContain('DATABASE_URL')
      expect(JSON.stringify([String(error), String((error as Error).cause)])).not.toContain('hunter2')
    })

  it('a role that may not make what is needed is told as such', async () => {
    const empty = await createEmptyDatabase(serverUrl)
    await admin(
      empty.url,
      `do $$ begin create role powerless login password 'p'; exception when duplicate_object then null; end $$`,
    )
    await expect(
      postgres({ url: empty.url.replace('postgres:postgres@', 'powerless:p@') }).ready(),
    ).rejects.toMatchObject({ code: 'config-invalid', message: expect.stringContaining('DATABASE_URL') })
    await empty.drop()
  })
})

async function countListeners(): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and query ilike 'listen%'`,
  )
  await client.end()
  return rows[0].n
}
