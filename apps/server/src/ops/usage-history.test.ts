/** Usage history counts each of the user's calls once, in its bucket. */
import { defineTool } from '@loadout/core'
import { type AuditView, createServices } from '@loadout/core/services'
import { describe, expect, it } from 'vitest'
import { multiUserApp } from '../../test/support/multi-user-app.ts'
import { usageHistory } from './usage-history.ts'

const now = new Date('2026-05-05T10:30:00Z')
const line = (minutesAgo: number, outcome: string, detail: Record<string, number> = {}): AuditView => ({
  id: `${minutesAgo}-${outcome}`,
  userId: 'ann',
  action: 'mcp_tool_call',
  source: 'mcp:kit',
  outcome,
  detail,
  at: new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
  ref: outcome === 'ok' ? 'kit.good' : 'kit.bad',
  threadId: null,
  runId: null,
  callId: null,
  hash: '',
})
/** Lists the entries as the audit log does: within the range, newest first, in pages. */
const logOf = (lines: AuditView[], pageSize = 1000) => ({
  list: async (
    _: object,
    { from, to }: { from?: Date; to?: Date } = {},
    { cursor = '0' }: { cursor?: string } = {},
  ) => {
    const found = lines.filter(({ at }) => (!from || at >= from.toISOString()) && (!to || at <= to.toISOString()))
    const next = Number(cursor) + pageSize
    return { items: found.slice(Number(cursor), next), ...(next < found.length ? { nextCursor: String(next) } : {}) }
  },
})
const historyOf = (lines: AuditView[], range: '1h' | '24h' | '7d' | '30d', pageSize?: number) =>
  usageHistory(logOf(lines, pageSize) as never, { userId: 'ann', range, now })

describe('usage over time', () => {
  it('counts a call once by its outcome in its bucket', async () => {
    const lines = [
      line(1, 'ok', { durationMs: 10, resultSize: 100 }),
      line(1, 'started'),
      line(31, 'failed', { durationMs: 30 }),
      line(31, 'denied', { durationMs: 1 }),
      line(61, 'ok', { durationMs: 20, resultSize: 50 }),
      line(60 * 30, 'ok'),
    ]
    const { total, buckets, tools, complete } = await historyOf(lines, '24h')
    expect(total).toEqual({ calls: 4, errors: 1, refused: 1, resultBytes: 150, p50: 20, p95: 30 })
    expect(buckets).toHaveLength(24)
    expect(buckets.at(-1)).toEqual({
      at: '2026-05-05T10:00:00.000Z',
      calls: 1,
      errors: 0,
      refused: 0,
      resultBytes: 100,
      p50: 10,
      p95: 10,
    })
    expect(buckets.at(-2)).toMatchObject({ at: '2026-05-05T09:00:00.000Z', calls: 3, errors: 1, refused: 1 })
    expect(buckets[0]).toEqual({ at: '2026-05-04T11:00:00.000Z', calls: 0, errors: 0, refused: 0, resultBytes: 0 })
    expect(tools.map(({ ref, calls }) => [ref, calls])).toEqual([
      ['kit.good', 2],
      ['kit.bad', 2],
    ])
    expect(complete).toBe(true)
  })

  it.each([
    ['1h', 12],
    ['7d', 28],
    ['30d', 30],
  ] as const)('covers %s with %d buckets up to now', async (range, count) => {
    const { buckets, total } = await historyOf([line(0, 'ok')], range)
    expect([buckets.length, total.calls, buckets.at(-1)?.calls]).toEqual([count, 1, 1])
  })

  it('reads page by page and reports when only the newest entries were counted', async () => {
    const many = Array.from({ length: 60_000 }, () => line(1, 'ok'))
    const all = await historyOf(many.slice(0, 3500), '1h', 1000)
    expect([all.total.calls, all.complete]).toEqual([3500, true])
    const newest = await historyOf(many, '1h', 1000)
    expect([newest.total.calls, newest.complete]).toEqual([50_000, false])
  })

  it('is returned by its route to each user for their own calls', async () => {
    const hello = defineTool({
      name: 'hello',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
      execute: () => 'hello',
    })
    const { host, as } = multiUserApp({ tools: [hello] })
    await as('ann')('POST /api/tools/app/hello/call', { arguments: {} })
    const { status, body } = await as('ann')('GET /api/usage/history?range=1h')
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: { calls: 1, errors: 0 }, tools: [{ ref: 'app.hello', calls: 1 }] })
    expect(body.total.p95).toBeGreaterThan(0)
    expect((await as('ann')('GET /api/usage/history?ref=app.other')).body.total.calls).toBe(0)
    expect((await as('bob')('GET /api/usage/history')).body.total.calls).toBe(0)
    expect((await as('bob')('GET /api/usage/history?range=9y')).status).toBe(422)
    await host.close()
  })

  it('returns empty buckets on a new host', async () => {
    const host = createServices()
    const { total, tools } = await usageHistory(host.audit, { userId: 'ann', range: '7d' })
    expect([total.calls, tools]).toEqual([0, []])
    await host.close()
  })
})
