/** Several processes write one log in PostgreSQL: one chain, nothing twice, nothing lost, also where some are killed. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { createAudit } from '../../src/audit/audit.ts'
import { postgres } from '../../src/storage/postgres.ts'
import { callAndKill, missing, received, show } from '../fixtures/kill-audited.ts'

const TIMES = process.env.LOADOUT_PROVE === 'full' ? 10 : 1
const masterKey = randomBytes(32).toString('base64')

const SOON = { timeout: 60_000 }
let folder: string
let database: Awaited<ReturnType<typeof createDatabase>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-audit-'))
  database = await createDatabase(inject('postgresUrl'))
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})
const auditOf = (url: string) => {
  const storage = postgres({ url, maxConnections: 4 })
  const audit = createAudit({
    storage,
    secrets: { list: () => [] },
    retentionDays: async () => undefined,
    strict: true,
  })
  return { storage, audit, close: () => audit.close().then(() => storage.close()) }
}

describe('one log with several processes', () => {
  it(`has one complete chain after two calling processes are killed, ${TIMES} times`, {
    timeout: 300_000,
  }, async () => {
    for (let round = 0; round < TIMES; round++) {
      const options = { folder, masterKey, url: database.url }
      await Promise.all([
        callAndKill({ ...options, from: round * 100_000 }, 200 + Math.random() * 100),
        callAndKill({ ...options, from: 50_000_000 + round * 100_000 }, 60 + Math.random() * 60),
        callAndKill({ ...options, from: 90_000_000 + round * 100_000, strict: true }, 100),
      ])
      const numbers = await received(folder)
      expect(numbers.length).toBeGreaterThan(100)
      // Two who look for what was left at once.
      const [one, other] = await Promise.all([show(options), show(options)])
      const { items, verdict } = one.items.length > other.items.length ? one : other
      expect(missing(numbers, items)).toEqual([])
      expect(verdict).toEqual({ ok: true, rows: items.length })
      const lines = items
        .map(({ callId, outcome }) => `${callId} ${outcome}`)
        .filter((line) => line.startsWith('call_'))
      expect(new Set(lines).size).toBe(lines.length)
    }
  })

  it('notifies other processes which users have new entries, once per batch, without the entries', async () => {
    const { url, drop } = await createDatabase(inject('postgresUrl'))
    const [one, other] = [auditOf(url), auditOf(url)]
    const changes: string[][] = [[], []]
    const note = (received: string[] | undefined) => (change: { kind: string; collection?: string; id?: string }) => {
      if (change.kind === 'row' && change.collection === 'audit') received?.push(change.id ?? '')
    }
    await one.storage.watch(note(changes[0]))
    await other.storage.watch(note(changes[1]))
    await Promise.all(['u1', 'u2', 'u1', 'u1'].map((userId) => one.audit.record({ userId, action: 'did' })))
    await vi.waitFor(() => {
      for (const received of changes) expect([...new Set(received)].sort()).toEqual(['u1', 'u2'])
    }, SOON)
    const before = changes.map((received) => received.length)
    await one.audit.prune(new Date(Date.now() + 60_000))
    await one.audit.record({ userId: 'u3', action: 'did' })
    await vi.waitFor(() => expect(changes.map((received) => received.at(-1))).toEqual(['u3', 'u3']), SOON)
    expect(changes[1]).toHaveLength((before[1] ?? 0) + 1)
    for (const { close } of [one, other]) await close()
    await drop()
  })

  it('keeps one chain with eight parallel writers', async () => {
    const { url, drop } = await createDatabase(inject('postgresUrl'))
    const all = Array.from({ length: 8 }, () => auditOf(url))
    await Promise.all(
      all.map(async ({ audit }, who) => {
        for (let i = 0; i < 25; i++) await audit.record({ userId: `u${who % 3}`, action: `${who}-${i}` })
      }),
    )
    const { items } = await (all[0] as (typeof all)[0]).audit.list({ everyone: true }, {}, { limit: 1000 })
    expect(new Set(items.map(({ action }) => action)).size).toBe(200)
    expect(items).toHaveLength(200)
    expect(await (all[1] as (typeof all)[0]).audit.verify()).toEqual({ ok: true, rows: 200 })
    await Promise.all(all.map(({ close }) => close()))
    await drop()
  })

  it('detects a changed byte in the database and stays valid after a user is erased', async () => {
    const { url, drop } = await createDatabase(inject('postgresUrl'))
    const { audit, close } = auditOf(url)
    const detail = { z: 1, a: [1.5, 1e21, 5e-324, -0, 'ü漢😀'], '': { 'key "with" quotes\n': null } }
    for (let i = 0; i < 20; i++)
      await audit.record({ userId: i % 2 ? 'ann' : 'bob', action: 'x', detail: { ...detail, i } })
    expect(await audit.verify()).toEqual({ ok: true, rows: 20 })
    expect(await audit.erase('ann')).toBe(10)
    expect(await audit.verify()).toEqual({ ok: true, rows: 20 })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const turn = async (change: string, back: string) => {
      await client.query(`update mcp.audit set ${change} where audit_id = 'audt_000000000000007'`)
      expect(await audit.verify()).toMatchObject({ ok: false, auditId: 'audt_000000000000007' })
      await client.query(`update mcp.audit set ${back} where audit_id = 'audt_000000000000007'`)
      expect(await audit.verify()).toMatchObject({ ok: true })
    }
    await turn(`detail_json = jsonb_set(detail_json, '{i}', '7')`, `detail_json = jsonb_set(detail_json, '{i}', '6')`)
    await turn(`at = at + interval '1 ms'`, `at = at - interval '1 ms'`)
    await turn(`user_id = 'boc'`, `user_id = 'bob'`)
    await client.query(`delete from mcp.audit where audit_id = 'audt_000000000000020'`)
    expect(await audit.verify()).toMatchObject({ ok: false, reason: expect.stringContaining('should end at') })
    await client.end()
    await close()
    await drop()
  })
})
