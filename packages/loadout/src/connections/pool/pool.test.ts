import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HostError } from '../../errors.ts'
import type { Connection } from '../connection.ts'
import { createBreaker } from './circuit-breaker.ts'
import type { Pool, PoolChange, PoolKey, PoolOptions } from './pool.ts'
import { createPool } from './pool.ts'

let pool: Pool
let opened: FakeConnection[]
const changes: string[] = []

interface FakeConnection extends Connection {
  closed: boolean
  lose(): void
}

function fake(onClosed: () => void): FakeConnection {
  const connection = {
    closed: false,
    lose: onClosed,
    async close() {
      connection.closed = true
    },
  } as FakeConnection
  opened.push(connection)
  return connection
}

const start = (options: PoolOptions = {}) => {
  opened = []
  changes.length = 0
  pool = createPool({
    ...options,
    onChange: (key: PoolKey, change: PoolChange) => void changes.push(`${key.userId} ${change.status}`),
  })
}
const key = (userId: string | null, toolkit = 'kit', fingerprint = 'f'): PoolKey => ({ toolkit, fingerprint, userId })
const lease = (of: PoolKey) => pool.lease(of, async (onClosed) => fake(onClosed))
const pause = (ms: number) => vi.advanceTimersByTimeAsync(ms)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
})
afterEach(async () => {
  await pool.close()
  vi.useRealTimers()
})

describe('the connection pool', () => {
  it('opens one connection per key for all waiting callers', async () => {
    start()
    const leases = await Promise.all([
      lease(key('ann')),
      lease(key('ann')),
      lease(key('bob')),
      lease(key('ann', 'other')),
      lease(key('ann', 'kit', 'g')),
    ])
    expect(opened).toHaveLength(4)
    expect(leases[0]?.connection).toBe(leases[1]?.connection)
    for (const one of leases) one.release()
    expect((await lease(key('ann'))).connection).toBe(leases[0]?.connection)
  })

  it('closes idle connections and keeps used ones', async () => {
    start({ idleMs: 30 })
    const [used, idle] = [await lease(key('ann')), await lease(key('bob'))]
    idle.release()
    await pause(29)
    expect(opened.map((one) => one.closed)).toEqual([false, false])
    await pause(1)
    expect(opened.map((one) => one.closed)).toEqual([false, true])
    used.release()
  })

  it('replaces a connection that is too old at the next lease', async () => {
    start({ maxAgeMs: 20 })
    const first = await lease(key('ann'))
    first.release()
    await pause(40)
    const second = await lease(key('ann'))
    expect(second.connection).not.toBe(first.connection)
    expect(opened[0]?.closed).toBe(true)
  })

  it('makes a user at the limit wait, evicts idle connections and then rejects', async () => {
    start({ maxPerUser: 2, queueMs: 60 })
    const [a, b] = [await lease(key('ann', 'a')), await lease(key('ann', 'b'))]
    const refused = expect(lease(key('ann', 'c'))).rejects.toMatchObject({
      code: 'too-many-connections',
      message: expect.stringContaining('2'),
    })
    await pause(60)
    await refused
    const waiting = lease(key('ann', 'd'))
    await pause(20)
    expect(opened).toHaveLength(2)
    a.discard()
    expect((await waiting).connection).toBe(opened[2])
    b.release()
    await lease(key('ann', 'e'))
    expect(opened[1]?.closed).toBe(true)
    await lease(key('bob', 'a'))
  })

  it('limits connections per host', async () => {
    start({ maxPerHost: 1, queueMs: 30 })
    await lease(key('ann'))
    const refused = expect(lease(key('bob'))).rejects.toMatchObject({ code: 'too-many-connections' })
    await pause(30)
    await refused
  })

  for (const [cap, userIds] of [
    ['host', ['ann', 'bob', 'cyd', 'dan']],
    ['user', ['ann', 'ann', 'ann', 'ann']],
  ] as const)
    it(`evicts the longest idle connection at the ${cap} limit and none in use`, async () => {
      start({ maxPerHost: cap === 'host' ? 3 : 99, maxPerUser: cap === 'user' ? 3 : 99, queueMs: 30 })
      const keys = userIds.map((userId, i) => key(userId, `kit ${i}`)) as [PoolKey, PoolKey, PoolKey, PoolKey]
      const leases = [await lease(keys[0]), await lease(keys[1]), await lease(keys[2])]
      // The first is in use; of the others the one that was opened first idles for a shorter time.
      leases[2]?.release()
      await pause(2)
      leases[1]?.release()
      await lease(keys[3])
      expect(opened.map((one) => one.closed)).toEqual([false, false, true, false])
    })

  it('gives an idle slot to a waiting caller', async () => {
    start({ maxPerHost: 1, queueMs: 500 })
    const first = await lease(key('ann'))
    const waiting = lease(key('bob'))
    await pause(10)
    expect(opened).toHaveLength(1)
    first.release()
    expect((await waiting).connection).toBe(opened[1])
    expect(opened[0]?.closed).toBe(true)
  })

  it('closes a retired connection after its calls finish', async () => {
    start()
    const [used, idle] = [await lease(key('ann')), await lease(key('bob'))]
    idle.release()
    await pool.retire('kit')
    expect(opened.map((one) => one.closed)).toEqual([false, true])
    expect((await lease(key('ann'))).connection).not.toBe(used.connection)
    used.release()
    await pause(5)
    expect(opened[0]?.closed).toBe(true)
  })

  it('does not lease a session that the server ended', async () => {
    start()
    const first = await lease(key('ann'))
    opened[0]?.lose()
    first.release()
    await pause(5)
    expect((await lease(key('ann'))).connection).not.toBe(first.connection)
    expect(changes).toEqual(['ann connecting', 'ann connected', 'ann disconnected', 'ann connecting', 'ann connected'])
  })

  it('cools down per user after repeated failures and resets on request', async () => {
    start()
    const failing = (userId: string) =>
      pool
        .lease(key(userId), async () => {
          throw new HostError('server-unreachable')
        })
        .catch((error) => error.code)
    for (let i = 0; i < 3; i++) expect(await failing('ann')).toBe('server-unreachable')
    expect(await failing('ann')).toBe('cooling-down')
    expect(await failing('bob')).toBe('server-unreachable')
    pool.resetBreaker('kit')
    await lease(key('ann'))
  })

  it('serves a waiting caller at once and rejects it when the pool closes', async () => {
    start({ maxPerHost: 1, queueMs: 500 })
    const first = await lease(key('ann'))
    const [second, third] = [lease(key('bob')), lease(key('cyd'))].map((one) =>
      one.then(
        () => 'leased',
        (error) => error.code,
      ),
    )
    first.discard()
    expect(await second).toBe('leased')
    expect(opened.filter((one) => !one.closed)).toHaveLength(1)
    await pool.close()
    expect(await third).toBe('shutting-down')
    expect(opened.every((one) => one.closed)).toBe(true)
  })

  it('replaces an old connection in use and closes it after its calls', async () => {
    start({ maxAgeMs: 20 })
    const first = await lease(key('ann'))
    await pause(40)
    const second = await lease(key('ann'))
    expect(second.connection).not.toBe(first.connection)
    expect(opened[0]?.closed).toBe(false)
    first.release()
    await pause(5)
    expect(opened[0]?.closed).toBe(true)
  })

  it('reports permanent errors each time without a cooldown', async () => {
    start()
    const refused = () =>
      pool
        .lease(key('ann'), async () => {
          throw new HostError('stdio-refused')
        })
        .catch((error) => error.code)
    for (let i = 0; i < 5; i++) expect(await refused()).toBe('stdio-refused')
  })

  it('leases nothing after it is closed', async () => {
    start()
    const leased = await lease(key('ann'))
    await pool.close()
    expect(opened[0]?.closed).toBe(true)
    await expect(lease(key('ann'))).rejects.toMatchObject({ code: 'shutting-down' })
    leased.release()
  })
})

describe('the circuit breaker', () => {
  it('backs off with jitter up to 30 s and resets after a success', () => {
    const breaker = createBreaker(() => 1)
    const waits: number[] = []
    let now = 0
    for (let i = 0; i < 10; i++) {
      breaker.failed(now)
      try {
        breaker.assertClosed(now)
        waits.push(0)
      } catch (error) {
        waits.push((error as HostError).retryAfterMs ?? 0)
        now += (error as HostError).retryAfterMs ?? 0
        breaker.assertClosed(now)
      }
    }
    expect(waits).toEqual([0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    breaker.succeeded()
    breaker.failed(now)
    breaker.assertClosed(now)
  })
})
