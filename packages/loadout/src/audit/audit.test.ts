/** The log over a storage: each entry is stored once in one chain, failures are retried, erased data is gone. */
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { HostError } from '../errors.ts'
import { memory } from '../storage/memory.ts'
import type { Storage } from '../storage/storage.ts'
import { type AuditOptions, createAudit, type RunningAudit } from './audit.ts'
import { memoryJournal } from './journal/journal.ts'
import { cell } from './read-log.ts'

function start(storage: Storage = memory(), options: AuditOptions & { days?: number } = {}): RunningAudit {
  const { days, ...rest } = options
  return createAudit({ storage, secrets: { list: () => [] }, retentionDays: async () => days, ...rest })
}
const everyone = { everyone: true } as const
const actions = async (audit: RunningAudit) =>
  (await audit.list(everyone, {}, { limit: 10_000 })).items.map(({ action }) => action).reverse()

/** A storage whose transactions fail as one says. */
function failing(storage: Storage, fails: (count: number) => 'before' | 'after' | undefined): Storage {
  let count = 0
  return {
    ...storage,
    async transaction(access, work) {
      const how = access.caller === 'audit-shipping' ? fails(++count) : undefined
      if (how === 'before') throw new HostError('storage-unavailable')
      const result = await storage.transaction(access, work)
      if (how === 'after') throw new HostError('storage-unavailable')
      return result
    },
  }
}

describe('the audit log', () => {
  it('stores each entry once and in order as a valid chain', async () => {
    const audit = start()
    for (let i = 0; i < 1200; i++) void audit.record({ userId: 'ann', action: `a${i}` })
    await audit.flush()
    expect(await actions(audit)).toEqual(Array.from({ length: 1200 }, (_, i) => `a${i}`))
    expect(await audit.verify()).toEqual({ ok: true, rows: 1200 })
    await audit.close()
  })

  it('ships entries in the background', async () => {
    const storage = memory()
    const audit = start(storage)
    void audit.record({ userId: 'ann', action: 'x' })
    await expect.poll(() => storage.transaction({ userId: 'ann' }, (tx) => tx.list('audit'))).toHaveLength(1)
    await audit.close()
  })

  it('detects a flipped bit in the storage and its position', async () => {
    const storage = memory()
    const audit = start(storage)
    for (let i = 0; i < 10; i++) void audit.record({ userId: 'ann', action: 'x', detail: { amount: i } })
    await audit.flush()
    const rows = await storage.transaction({ userId: 'ann' }, (tx) => tx.list('audit'))
    const id = rows[4]?.auditId ?? ''
    await storage.transaction({ caller: 'audit-shipping', userId: 'ann' }, (tx) =>
      tx.update('audit', id, { set: { detailJson: { amount: 5 } } }),
    )
    expect(await audit.verify()).toMatchObject({ ok: false, auditId: id, reason: 'its content was changed' })
  })

  it.each([
    ['a database that is away', (count: number) => (count <= 4 ? ('before' as const) : undefined)],
    ['commits whose answer was lost', (count: number) => (count % 3 === 2 ? ('after' as const) : undefined)],
    ['both', (count: number) => (count < 20 ? (['before', 'after', undefined] as const)[count % 3] : undefined)],
  ])('%s loses nothing and stores nothing twice', async (_, fails) => {
    const storage = memory()
    const problems: string[] = []
    const audit = start(failing(storage, fails), { onProblem: ({ code }) => problems.push(code) })
    for (let i = 0; i < 40; i++) {
      void audit.record({ userId: i % 2 ? 'ann' : 'bob', action: `a${i}` })
      if (i % 10 === 9) await audit.flush().catch(() => {})
    }
    await expect
      .poll(() =>
        audit.flush().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    expect(problems.length).toBeGreaterThan(0)
    expect((await actions(audit)).sort()).toEqual(Array.from({ length: 40 }, (_, i) => `a${i}`).sort())
    expect(await audit.verify()).toEqual({ ok: true, rows: 40 })
  })

  it('builds one chain from two parallel writers', async () => {
    const storage = memory()
    const one = start(storage)
    const other = start(storage)
    await Promise.all(
      [one, other].map(async (audit, who) => {
        for (let i = 0; i < 30; i++) {
          void audit.record({ userId: 'ann', action: `${who}-${i}` })
          await audit.flush()
        }
      }),
    )
    const all = await actions(one)
    expect(new Set(all).size).toBe(60)
    for (const who of [0, 1])
      expect(all.filter((action) => action.startsWith(`${who}-`))).toEqual(
        Array.from({ length: 30 }, (_, i) => `${who}-${i}`),
      )
    expect(await other.verify()).toEqual({ ok: true, rows: 60 })
  })

  it('waits for the commit in strict mode and rejects if it fails', async () => {
    const storage = memory()
    let away = false
    const audit = start(
      failing(storage, () => (away ? 'before' : undefined)),
      { strict: true },
    )
    await Promise.all(Array.from({ length: 50 }, () => audit.record({ userId: 'ann', action: 'x' })))
    expect(await storage.transaction({ userId: 'ann' }, (tx) => tx.list('audit'))).toHaveLength(50)
    away = true
    await expect(audit.record({ userId: 'ann', action: 'y' })).rejects.toMatchObject({ code: 'storage-unavailable' })
    away = false
    await audit.record({ userId: 'ann', action: 'z' })
    expect(await audit.verify()).toMatchObject({ ok: true })
  })

  it('corrects invalid entries and keeps the other entries', async () => {
    const audit = start()
    void audit.record({
      userId: 'a\nb',
      action: '',
      source: 'x'.repeat(5000),
      ref: '\0',
      detail: { '\0': '\ud800', b: 'x'.repeat(20_000) },
    })
    void audit.record({ userId: 'ann', action: 'y', detail: { '\0a': ['\0', '\ud83d'] } })
    await audit.flush()
    expect(await actions(audit)).toEqual(['unknown', 'y'])
    expect(await audit.verify()).toEqual({ ok: true, rows: 2 })
  })

  it('accepts no more entries when the queue is full', () => {
    const journal = memoryJournal()
    const entry = {
      entryId: 'x',
      userId: '',
      at: 0,
      action: 'x',
      source: '',
      threadId: null,
      runId: null,
      callId: null,
      ref: null,
      outcome: null,
      detail: {},
    }
    for (let i = 0; i < 100_000; i++) journal.append(entry)
    expect(() => journal.append(entry)).toThrow(expect.objectContaining({ code: 'audit-unavailable' }))
  })
})

describe('reading the log', () => {
  const filled = async () => {
    const audit = start()
    for (let i = 0; i < 25; i++)
      void audit.record({
        userId: i % 5 === 0 ? 'bob' : 'ann',
        action: i % 2 ? 'mcp_tool_call' : 'grant_added',
        source: `mcp:kit${i % 3}`,
        ref: `kit${i % 3}.t`,
        outcome: i % 2 ? 'ok' : undefined,
        callId: `call_${i}`,
      })
    await audit.flush()
    return audit
  }

  it('returns the own entries to a user and all entries to an operator', async () => {
    const audit = await filled()
    expect((await audit.list({ userId: 'ann' })).items).toHaveLength(20)
    expect((await audit.list({ userId: 'ann' }, { userId: 'bob' })).items.every(({ userId }) => userId === 'ann')).toBe(
      true,
    )
    expect((await audit.list(everyone)).items).toHaveLength(25)
    expect((await audit.list(everyone, { userId: 'bob' })).items).toHaveLength(5)
    expect((await audit.list({ userId: 'eve' })).items).toEqual([])
  })

  it('filters and pages from the newest', async () => {
    const audit = await filled()
    const count = async (filter: object) => (await audit.list(everyone, filter)).items.length
    expect(await count({ action: 'mcp_tool_call' })).toBe(12)
    expect(await count({ toolkit: 'kit1' })).toBe(8)
    expect(await count({ ref: 'kit1.t', outcome: 'ok' })).toBe(4)
    expect(await count({ callId: 'call_7' })).toBe(1)
    expect(await count({ from: new Date(Date.now() + 1000) })).toBe(0)
    expect(await count({ from: new Date(0), to: new Date(Date.now() + 1000) })).toBe(25)
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await audit.list(everyone, {}, { limit: 10, cursor })
      seen.push(...page.items.map(({ callId }) => callId ?? ''))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `call_${24 - i}`))
  })

  it('filters by detail fields in full pages', async () => {
    const audit = start()
    for (let i = 0; i < 2500; i++) {
      const detail = i % 2 ? {} : { caller: i % 4 ? 'code' : 'direct', decision: i % 500 === 0 ? 'ask' : 'allow' }
      void audit.record({ userId: 'ann', action: 'mcp_tool_call', callId: `call_${i}`, detail })
    }
    await audit.flush()
    const find = async (filter: object, limit = 100) => audit.list({ userId: 'ann' }, filter, { limit })
    expect((await find({ decision: 'ask' })).items.map(({ callId }) => callId)).toEqual(
      [2000, 1500, 1000, 500, 0].map((i) => `call_${i}`),
    )
    expect((await find({ decision: 'ask', caller: 'code' })).items).toEqual([])
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await audit.list({ userId: 'ann' }, { caller: 'code' }, { limit: 200, cursor })
      seen.push(...page.items.map(({ callId }) => callId ?? ''))
      expect(page.items.length).toBeLessThanOrEqual(200)
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    expect(seen).toEqual(Array.from({ length: 625 }, (_, i) => `call_${2498 - i * 4}`))
    let lines = ''
    for await (const piece of audit.export({ userId: 'ann' }, 'jsonl', { decision: 'ask' })) lines += piece
    expect(lines.trim().split('\n')).toHaveLength(5)
  })

  it('exports JSONL, and CSV that is safe in spreadsheets', async () => {
    const audit = start()
    void audit.record({ userId: '=cmd', action: '@x', ref: '+1', outcome: '-1', detail: { a: 'x,"y"\n' } })
    let csv = ''
    for await (const piece of audit.export(everyone, 'csv')) csv += piece
    const [head, line] = csv.split('\r\n')
    expect(head).toBe('id,at,userId,action,source,ref,outcome,threadId,runId,callId,detail,hash')
    expect(line).toContain(`,"'=cmd","'@x",,"'+1","'-1",`)
    expect(line).toContain('"{""a"":""x,\\""y\\""\\n""}"')
    let lines = ''
    for await (const piece of audit.export(everyone, 'jsonl')) lines += piece
    expect(JSON.parse(lines)).toMatchObject({ userId: '=cmd', detail: { a: 'x,"y"\n' } })
    for (const bad of ['=1', '+1', '-1', '@a', '\t=1', ' =1', '\r=1', '＝1']) expect(cell(bad)).toMatch(/^"?'/)
    expect(cell('a')).toBe('a')
  })
})

describe('deletion from the log', () => {
  it('erases a user without a trace and keeps the chain valid', async () => {
    const storage = memory()
    const audit = start(storage)
    for (let i = 0; i < 700; i++)
      void audit.record({
        userId: i % 2 ? 'ann-7f3' : 'bob',
        action: 'x',
        source: 'mcp:ann-7f3',
        callId: `ann-7f3-${i}`,
        detail: { who: i % 2 ? 'ann-7f3' : 'b' },
      })
    expect(await audit.erase('ann-7f3')).toBe(350)
    expect(await audit.verify()).toEqual({ ok: true, rows: 700 })
    const rows = await storage.transaction({ caller: 'audit-reading' }, (tx) => tx.list('audit', { limit: 1000 }))
    const gone = rows.filter(({ userId }) => userId !== 'bob')
    expect(gone).toHaveLength(350)
    expect(JSON.stringify(gone)).not.toContain('ann-7f3')
    expect((await audit.list({ userId: 'ann-7f3' })).items).toEqual([])
    void audit.record({ userId: 'bob', action: 'y' })
    await audit.flush()
    expect(await audit.verify()).toEqual({ ok: true, rows: 701 })
  })

  it('removes entries older than the retention period and keeps the rest valid', async () => {
    const audit = start()
    for (let i = 0; i < 600; i++) void audit.record({ userId: i % 3 ? 'ann' : '', action: 'old' })
    await audit.flush()
    await wait(5)
    const then = new Date()
    for (let i = 0; i < 5; i++) void audit.record({ userId: 'ann', action: 'new' })
    await audit.flush()
    expect(await audit.prune(then)).toBe(600)
    expect(await actions(audit)).toEqual(Array(5).fill('new'))
    expect(await audit.verify()).toEqual({ ok: true, rows: 5 })
    expect(await audit.prune(then)).toBe(0)
    await audit.erase('ann')
    expect(await audit.verify()).toEqual({ ok: true, rows: 5 })
    expect(await audit.prune(new Date(Date.now() + 1000))).toBe(5)
    expect(await audit.verify()).toEqual({ ok: true, rows: 0 })
    void audit.record({ userId: 'ann', action: 'newest' })
    await audit.flush()
    expect(await audit.verify()).toEqual({ ok: true, rows: 1 })
  })

  it('runs automatically by the operator setting, and in memory above a maximum count', async () => {
    const storage = memory()
    const before = start(storage)
    void before.record({ userId: 'ann', action: 'old' })
    await before.flush()
    await storage.transaction({ caller: 'audit-shipping', userId: 'ann' }, async (tx) => {
      for (const row of await tx.list('audit')) await tx.update('audit', row.auditId, { set: { at: new Date(0) } })
    })
    const pruned = start(storage, { days: 30 })
    await pruned.start()
    await expect.poll(async () => (await pruned.list(everyone)).items).toEqual([])
    await pruned.close()

    const small = start(memory(), { maxRows: 100 })
    for (let i = 0; i < 500; i++) {
      void small.record({ userId: 'ann', action: `a${i}` })
      if (i % 50 === 0) await small.flush()
    }
    await small.flush()
    await expect.poll(async () => (await small.list(everyone, {}, { limit: 1000 })).items.length).toBeLessThan(151)
    expect((await small.list(everyone)).items[0]?.action).toBe('a499')
    expect(await small.verify()).toMatchObject({ ok: true })
  })
})
