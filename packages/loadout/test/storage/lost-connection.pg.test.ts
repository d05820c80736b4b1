/** What happens when the wire to PostgreSQL breaks, falls silent, or carries what is not ours. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { admin, createDatabase, createEmptyDatabase } from '../../../../test/database.ts'
import { postgres } from '../../src/storage/postgres.ts'
import { createReadCache } from '../../src/storage/read-cache.ts'
import { createListener } from '../../src/storage/sql/postgres-listener.ts'
import type { Change, Transaction } from '../../src/storage/storage.ts'
import { eventually } from '../../src/testing/check.ts'
import { sampleThreadRow } from '../../src/testing/suites/storage/rows.ts'
import { type TcpProxy, tcpProxy } from '../fixtures/tcp-proxy.ts'

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
afterEach(() => {
  vi.useRealTimers()
})

/** The connections to PostgreSQL are real; only the timers of the code under test wait for the test. */
const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })

describe('the listening connection', () => {
  it('ignores notifications from others', async () => {
    const storage = postgres({ url })
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    const foreign = ['hello', '{', '7', 'null', '["threads"]', '["nothing","ann","x",null]', '["threads",1,2,3]']
    await admin(url, ...foreign.map((payload) => `notify loadout_changes, '${payload}'`))
    await admin(url, `notify loadout_changes, '["threads","ann","ours",null]'`)
    await eventually(() => changes.length > 1, 'the listener reports our change')
    expect(changes.slice(1)).toEqual([{ kind: 'row', collection: 'threads', userId: 'ann', id: 'ours' }])
    await storage.close()
  })

  it('is single even if the first attempt failed', async () => {
    const storage = postgres({ url: proxy.url })
    await storage.ready()
    proxy.refuse()
    await expect(storage.watch(() => {})).rejects.toMatchObject({ code: 'storage-unavailable' })
    proxy.pass()
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await countListeners()).toBe(1)
    expect(changes).toEqual([{ kind: 'live' }])
    await storage.close()
  })

  it('is single again after several failed reconnects', async () => {
    const storage = postgres({ url: proxy.url })
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    proxy.refuse()
    await eventually(() => changes.at(-1)?.kind === 'lost', 'the loss is told')
    await expect.poll(() => proxy.refused()).toBeGreaterThan(1)
    proxy.pass()
    await eventually(() => changes.at(-1)?.kind === 'live', 'it listens again')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await countListeners()).toBe(1)
    expect(changes.map((change) => change.kind)).toEqual(['live', 'lost', 'live'])
    await storage.close()
  })

  it('is reconnected when it stops responding', async () => {
    fakeTimers()
    const [heartbeatMs, answerMs] = [15_000, 5000]
    const listener = createListener({ connectionString: proxy.url }, { heartbeatMs, answerMs })
    const states: boolean[] = []
    await listener.start({ onPayload: () => {}, onStatus: (live) => states.push(live) })
    await vi.advanceTimersByTimeAsync(heartbeatMs)
    // The answered heartbeat leaves no timeout behind: only the interval of the next one.
    await expect.poll(() => vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(answerMs)
    expect(states).toEqual([true])
    proxy.hush()
    await vi.advanceTimersByTimeAsync(heartbeatMs + answerMs)
    expect(states).toEqual([true, false])
    await vi.advanceTimersByTimeAsync(1000)
    await expect.poll(() => states).toEqual([true, false, true])
    await listener.stop()
  })
})

describe('transactions on PostgreSQL connections', () => {
  it('work again for a read cache after its first watch failed', async () => {
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

  it('fail as unavailable when the connection is cut, and the next one works', async () => {
    const storage = postgres({ url: proxy.url, maxConnections: 1 })
    const cutting = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', sampleThreadRow('ann'))
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

  it('release a connection that is cut at their start', async () => {
    const storage = postgres({ url: proxy.url, maxConnections: 1, connectTimeoutMs: 60_000 })
    await storage.transaction(ANN, list)
    proxy.cutAtNext()
    await expect(storage.transaction(ANN, list)).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(await storage.transaction(ANN, list)).toEqual([])
    await storage.close()
  })

  it('fail as unavailable when the server ends the session', async () => {
    const storage = postgres({ url, maxConnections: 1 })
    const ended = storage.transaction(ANN, async (tx) => {
      await tx.list('threads')
      await admin(
        url,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      // The server may end the session a moment after it said so.
      for (;;) await tx.list('threads')
    })
    await expect(ended).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(await storage.transaction(ANN, list)).toEqual([])
    await storage.close()
  })

  it('fail as unavailable when the pool stays exhausted', async () => {
    const connectTimeoutMs = 10_000
    const storage = postgres({ url, maxConnections: 1, connectTimeoutMs })
    await storage.ready()
    fakeTimers()
    await storage.transaction(ANN, async () => {
      const refused = expect(storage.transaction(ANN, list)).rejects.toMatchObject({ code: 'storage-unavailable' })
      await vi.advanceTimersByTimeAsync(connectTimeoutMs)
      await refused
    })
    vi.useRealTimers()
    await storage.close()
  })

  it('keep an error of their own work unchanged, even if it looks like a connection error', async () => {
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
    it(`with ${what} is reported without its secret`, async () => {
      const error = await postgres({ url: make() })
        .ready()
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringMatching(says) })
      expect(String((error as Error).message)).toContain('DATABASE_URL')
      expect(JSON.stringify([String(error), String((error as Error).cause)])).not.toContain('hunter2')
    })

  it('with a role that lacks permissions is reported', async () => {
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
