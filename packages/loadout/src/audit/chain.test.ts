/** The chain detects every change, removal, insertion and move; erasing users and pruning keep it valid. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../schema/ids.ts'
import type { AuditRow } from '../schema/records/audit.ts'
import {
  auditIdOf,
  type ChainEnd,
  chainRows,
  erasedRow,
  GENESIS,
  sealContents,
  verifyChain,
  webSha256,
} from './chain.ts'
import { type AuditContent, contentOf, newEntry } from './entry.ts'

const content = (overrides: Partial<AuditContent> = {}): AuditContent => ({
  ...contentOf(newEntry(newId('auditEntry'), { userId: 'ann', action: 'mcp_tool_call', source: 'mcp:x' })),
  ...overrides,
})

async function chainOf(contents: AuditContent[], from: ChainEnd = GENESIS) {
  return chainRows(await sealContents(contents, webSha256), from, webSha256)
}

const contents = fc.array(
  fc.record({
    userId: fc.constantFrom('ann', 'bob', ''),
    at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') }),
    action: fc.constantFrom('mcp_tool_call', 'grant_added'),
    threadId: fc.option(fc.string()),
    callId: fc.option(fc.string()),
    ref: fc.option(fc.string()),
    outcome: fc.option(fc.string()),
    detailJson: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }) as fc.Arbitrary<Record<string, unknown>>,
  }),
  { minLength: 1, maxLength: 12 },
)

const FIELDS = [
  'auditId',
  'entryId',
  'userId',
  'at',
  'action',
  'source',
  'threadId',
  'runId',
  'callId',
  'ref',
  'outcome',
  'detailJson',
  'prevHash',
  'contentHash',
  'salt',
  'hash',
] as Array<keyof AuditRow>

/** The same value with one bit of it turned. */
function flipped(value: unknown, bit: number): unknown {
  if (value instanceof Date) return new Date(value.getTime() ^ (1 << (bit % 20)))
  if (value === null) return 'x'
  if (typeof value === 'object') return { ...value, [`k${bit}`]: bit }
  const text = String(value)
  if (text === '') return 'x'
  const at = bit % text.length
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
}

describe('the audit chain', () => {
  it('is valid in parts and as a whole, in any key order of the database', async () => {
    const one = await chainOf([content({ detailJson: { b: 1, a: { d: [1, 2], c: 'ü' } } }), content()])
    const two = await chainOf([content({ userId: '' })], one.end)
    const rows = [...one.rows, ...two.rows]
    expect(await verifyChain(rows, { head: two.end })).toEqual({ ok: true, rows: 3 })
    const [first, ...rest] = rows as [AuditRow, ...AuditRow[]]
    const reordered = { ...first, detailJson: { a: { c: 'ü', d: [1, 2] }, b: 1 } }
    expect(await verifyChain([reordered, ...rest], { head: two.end })).toEqual({ ok: true, rows: 3 })
    expect(rows.map((row) => row.auditId)).toEqual(rows.map((row) => row.auditId).sort())
  })

  it('detects any flipped bit of any field of any row, also of an erased user', () =>
    fc.assert(
      fc.asyncProperty(
        contents,
        fc.record({ row: fc.nat(), field: fc.constantFrom(...FIELDS), bit: fc.nat(200), erased: fc.boolean() }),
        async (samples, { row, field, bit, erased }) => {
          const { rows, end } = await chainOf(samples.map(content))
          const index = row % rows.length
          const before = rows[index] as AuditRow
          const stored = erased ? erasedRow(before) : before
          const changed = rows.with(index, { ...stored, [field]: flipped(stored[field], bit) } as AuditRow)
          expect(await verifyChain(rows.with(index, stored), { head: end })).toMatchObject({ ok: true })
          const verdict = await verifyChain(changed, { head: end })
          expect(verdict.ok).toBe(false)
          // The reported row is the changed one, or the next one if only its hash changed.
          if (!verdict.ok && field !== 'auditId')
            expect([auditIdOf(index + 1), auditIdOf(index + 2)]).toContain(verdict.auditId)
        },
      ),
      { numRuns: 400 },
    ))

  it('detects a removed, inserted or moved row', () =>
    fc.assert(
      fc.asyncProperty(contents, fc.nat(), fc.nat(), async (samples, one, other) => {
        const { rows, end } = await chainOf(samples.map(content))
        const a = one % rows.length
        const b = other % rows.length
        const broken = async (changed: AuditRow[]) => !(await verifyChain(changed, { head: end })).ok
        expect(await broken(rows.toSpliced(a, 1))).toBe(true)
        expect(await broken(rows.toSpliced(a, 0, rows[b] as AuditRow))).toBe(true)
        const { rows: foreign } = await chainOf([content()])
        expect(await broken(rows.toSpliced(a, 0, foreign[0] as AuditRow))).toBe(true)
        if (a !== b) expect(await broken(rows.with(a, rows[b] as AuditRow).with(b, rows[a] as AuditRow))).toBe(true)
      }),
      { numRuns: 100 },
    ))

  it('stays valid after users are erased and the beginning is removed, without a trace of them', () =>
    fc.assert(
      fc.asyncProperty(contents, fc.nat(), async (samples, cut) => {
        const { rows, end } = await chainOf(samples.map((one) => content({ ...one, source: 'mcp:ann-kit' })))
        const erased = rows.map((row) => (row.userId === 'ann' ? erasedRow(row) : row))
        expect(await verifyChain(erased, { head: end })).toMatchObject({ ok: true })
        for (const row of erased.filter(({ salt }) => salt === null))
          expect(row).toMatchObject({ userId: '', source: '', callId: null, detailJson: {} })
        const last = cut % rows.length
        const anchor = { seq: last + 1, hash: (rows[last] as AuditRow).hash }
        const remaining = rows.slice(last + 1)
        expect(await verifyChain(remaining, { anchor, head: end })).toEqual({ ok: true, rows: remaining.length })
        // Lines that retention did not get to yet are passed over; with a wrong anchor nothing holds.
        expect(await verifyChain(rows, { anchor, head: end })).toEqual({ ok: true, rows: remaining.length })
        expect(await verifyChain(remaining, { anchor: { ...anchor, hash: GENESIS.hash }, head: end })).toMatchObject({
          ok: false,
        })
      }),
      { numRuns: 100 },
    ))

  it('reports the error and its position', async () => {
    const { rows, end } = await chainOf([content(), content(), content()])
    const second = rows[1] as AuditRow
    const verdict = (changed: AuditRow[]) => verifyChain(changed, { head: end })
    expect(await verdict(rows.with(1, { ...second, ref: 'x' }))).toEqual({
      ok: false,
      rows: 1,
      auditId: second.auditId,
      reason: 'its content was changed',
    })
    expect(await verdict(rows.toSpliced(1, 1))).toMatchObject({
      auditId: auditIdOf(3),
      reason: expect.stringContaining('000002 should stand'),
    })
    expect(await verdict(rows.slice(0, 2))).toMatchObject({
      auditId: auditIdOf(3),
      reason: expect.stringContaining('ends at'),
    })
    expect(await verdict(rows.with(1, { ...second, salt: null }))).toMatchObject({
      reason: expect.stringContaining('not erased'),
    })
    expect(await verdict([])).toMatchObject({ ok: false })
  })
})
