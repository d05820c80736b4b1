/** Hosts in processes of their own over one PostgreSQL: places at once are one limit, and what a killed one left is told. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import type { ApprovalView } from '../../src/schema/records/approval.ts'
import type { CallRow } from '../../src/schema/records/call.ts'
import { type HttpFaultServer, startFaultServer } from '../fixtures/fault-http.ts'
import { newKey, type RemoteHost, startHost } from '../fixtures/remote-host.ts'

const KEY = newKey()
const LEASE_MS = 2000
const MOST = 5

let database: Awaited<ReturnType<typeof createDatabase>>
let servers: HttpFaultServer[]
let hosts: [RemoteHost, RemoteHost]
beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'))
})
afterAll(() => database.drop())
beforeEach(async () => {
  servers = []
  hosts = await Promise.all([startHost(database.url, KEY, LEASE_MS), startHost(database.url, KEY, LEASE_MS)])
})
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.end()))
  await Promise.all(servers.map((server) => server.close()))
})

/** A toolkit whose server takes its time, or never answers, and knows how many calls it had at once. */
async function register(userId: string, name: string, ms?: number) {
  const tools = ['echo', 'ask_me'].map((tool) => ({ name: tool, inputSchema: { type: 'object' } }))
  const slow = ms === undefined ? ({ do: 'hang' } as const) : ({ do: 'delay', ms } as const)
  const server = await startFaultServer({ tools, at: { 'tools/call': slow } })
  servers.push(server)
  const seen = { now: 0, most: 0, all: 0 }
  const handle = server.server.handle.bind(server.server)
  server.server.handle = async (message, io) => {
    if (message.method !== 'tools/call') return handle(message, io)
    seen.all++
    seen.most = Math.max(seen.most, ++seen.now)
    await handle(message, io)
    // Before its answer leaves: who hears it may make the next call.
    if (ms !== undefined) seen.now--
  }
  await hosts[0].do({ do: 'register', userId, input: { name, url: server.url } })
  return seen
}

describe('concurrent calls across processes', () => {
  // Few who pause: each process writes all the time. Many who do not: one is full all the time.
  it.each([
    { callers: 4, pauseMs: 15 },
    { callers: 16, pauseMs: 0 },
  ])(`$callers callers in each of two processes, a limit of ${MOST}: never more, and as many`, async (load) => {
    const userId = `ann-${load.callers}`
    // Longer than the pauses of the callers, so that they meet also on a busy machine.
    const seen = await register(userId, 'busy', 80)
    await hosts[0].do({ do: 'app', patch: { limits: { concurrencyPerToolkit: MOST } } })
    const hammer = { do: 'hammer' as const, userId, name: 'busy.echo', ms: 2500, ...load }
    const made = hosts.map(() => 0)
    const isEnough = () => seen.most === MOST && seen.all > 50 && Math.min(...made) > 0
    // A machine that is busy elsewhere takes longer to fill all places; it must never fill one more.
    for (let round = 0; round < 6 && !isEnough(); round++) {
      const counts = await Promise.all(hosts.map((host) => host.do<{ made: number; limited: number }>(hammer)))
      for (const [index, count] of counts.entries()) made[index] = (made[index] ?? 0) + count.made
    }
    expect(seen.most).toBe(MOST)
    expect(made.reduce((sum, one) => sum + one, 0)).toBe(seen.all)
    expect(seen.all).toBeGreaterThan(50)
    expect(Math.min(...made)).toBeGreaterThan(0)
  })

  it('keep the slots of a killed process until its lease expires', async () => {
    const userId = 'bea'
    const stuck = await register(userId, 'stuck')
    await register(userId, 'quick', 1)
    await hosts[0].do({ do: 'app', patch: { limits: { concurrencyPerUser: MOST } } })
    const [one, other] = hosts
    const call = (host: RemoteHost, name: string) =>
      host.do<{ status: string }>({ do: 'call', userId, name, arguments: {} })
    for (let index = 0; index < MOST; index++) void call(other, 'stuck.echo').catch(() => {})
    await expect.poll(() => stuck.now).toBe(MOST)
    expect(await call(one, 'quick.echo')).toMatchObject({ status: 'limited' })
    other.kill()
    expect(await call(one, 'quick.echo')).toMatchObject({ status: 'limited' })
    const free = async () => (await call(one, 'quick.echo')).status
    await expect.poll(free, { timeout: LEASE_MS * 5, interval: 100 }).toBe('ok')
    expect(stuck.all).toBe(MOST)
  })
})

describe('a recorded call whose process was killed', () => {
  const record = (userId: string, callId: string) => hosts[0].do<CallRow>({ do: 'record', userId, callId })

  it('ends as outcome-unknown and is not repeated for the same idempotency key', async () => {
    const userId = 'cyd'
    const seen = await register(userId, 'stuck')
    const start = { do: 'start' as const, userId, toolkit: 'stuck', tool: 'echo', idempotencyKey: 'k' }
    const { callId } = await hosts[1].do<CallRow>(start)
    await expect.poll(() => seen.now).toBe(1)
    expect(await record(userId, callId)).toMatchObject({ status: 'running', finishedAt: null })
    hosts[1].kill()
    const outcome = { status: 'failed', outcomeJson: { error: { code: 'outcome-unknown' } } }
    await expect.poll(() => record(userId, callId), { timeout: LEASE_MS * 5 }).toMatchObject(outcome)
    expect(await hosts[0].do(start)).toMatchObject({ callId, ...outcome })
    expect(seen.all).toBe(1)
  })

  it('while waiting for approval ends as call-not-made, expires its request and runs with the same key', async () => {
    const userId = 'dan'
    const seen = await register(userId, 'asker', 1)
    const start = { do: 'start' as const, userId, toolkit: 'asker', tool: 'ask_me', idempotencyKey: 'k' }
    const { callId } = await hosts[1].do<CallRow>(start)
    const open = () => hosts[0].do<ApprovalView[]>({ do: 'approvals', userId })
    await expect.poll(open).toHaveLength(1)
    const [approval] = await open()
    hosts[1].kill()
    await expect.poll(open, { timeout: LEASE_MS * 5 }).toEqual([])
    const answer = (approvalId: string) => ({
      do: 'answer' as const,
      userId,
      approvalId,
      answer: { decision: 'allow' },
    })
    await expect(hosts[0].do(answer(approval?.id ?? ''))).rejects.toThrow('conflict')
    expect(await record(userId, callId)).toMatchObject({ outcomeJson: { error: { code: 'call-not-made' } } })

    const again = await hosts[0].do<CallRow>(start)
    expect(again.callId).not.toBe(callId)
    await expect.poll(open).toHaveLength(1)
    await hosts[0].do(answer((await open())[0]?.id ?? ''))
    await expect.poll(() => record(userId, again.callId)).toMatchObject({ status: 'ok' })
    expect(await hosts[0].do(start)).toMatchObject({ callId: again.callId, status: 'ok' })
    expect(seen.all).toBe(1)
  })

  it('before its approval was allowed ends as call-not-made and asks again with the same key', async () => {
    const userId = 'eve'
    const seen = await register(userId, 'asker', 1)
    const start = { do: 'start' as const, userId, toolkit: 'asker', tool: 'ask_me', idempotencyKey: 'k' }
    const { callId } = await hosts[1].do<CallRow>(start)
    const open = () => hosts[0].do<ApprovalView[]>({ do: 'approvals', userId })
    await expect.poll(open).toHaveLength(1)
    await expect.poll(() => record(userId, callId)).toMatchObject({ status: 'pending' })
    const [approval] = await open()
    hosts[1].kill()
    const answer = { do: 'answer' as const, userId, approvalId: approval?.id ?? '', answer: { decision: 'allow' } }
    expect(await hosts[0].do(answer)).toMatchObject({ status: 'allowed' })
    const outcome = { outcomeJson: { error: { code: 'call-not-made' } } }
    await expect.poll(() => record(userId, callId), { timeout: LEASE_MS * 5 }).toMatchObject(outcome)
    const again = await hosts[0].do<CallRow>(start)
    expect(again.callId).not.toBe(callId)
    await expect.poll(open).toHaveLength(1)
    expect(seen.all).toBe(0)
  })
})

describe('a removed user', () => {
  it('loses the running call in another process and all stored data', async () => {
    const userId = 'gone-7f3a91'
    const seen = await register(userId, 'stuck')
    await hosts[0].do({ do: 'app', patch: { limits: { maxCallsPerHour: 50 } } })
    const call = hosts[1].do<{ status: string; error: object }>({
      do: 'call' as const,
      userId,
      name: 'stuck.echo',
      arguments: { me: userId },
    })
    await expect.poll(() => seen.now).toBe(1)
    expect(await tablesWith(database.url, userId)).toContain('user_server_configs')
    await hosts[0].do({ do: 'remove-user', userId })
    expect(await call).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    // Counters and the log are written a moment later; what a process holds, as it ends.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    await Promise.all(hosts.map((host) => host.end()))
    expect(await tablesWith(database.url, userId)).toEqual([])
  })
})

/** The tables that hold a text anywhere. */
async function tablesWith(url: string, text: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`select table_name from information_schema.tables where table_schema = 'mcp'`)
  const found: string[] = []
  for (const { table_name: table } of rows) {
    const { rows: hits } = await client.query(`select 1 from mcp."${table}" t where t::text like $1 limit 1`, [
      `%${text}%`,
    ])
    if (hits.length > 0) found.push(table)
  }
  await client.end()
  return found
}
