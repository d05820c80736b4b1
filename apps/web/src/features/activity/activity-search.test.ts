import { describe, expect, it } from 'vitest'
import { auditQuery, countFilters, hasFilters, rangeOf, readActivity } from './activity-search.ts'

const now = new Date('2026-02-02T12:00:00Z')

describe('the activity log URL', () => {
  it('keeps known parameters only', () => {
    expect(readActivity({ tool: 'kit.t', foreign: 1, caller: 'code', from: {} })).toEqual({
      tool: 'kit.t',
      caller: 'code',
    })
  })

  it('is converted to an audit query', () => {
    expect(auditQuery({ toolkit: 'kit', tool: 'kit.t', range: '24h', to: '2020-01-01', caller: 'code' }, now)).toEqual({
      toolkit: 'kit',
      ref: 'kit.t',
      caller: 'code',
      from: '2026-02-01T12:00:00.000Z',
    })
    expect(auditQuery({ from: '2026-01-01T10:00', to: 'never', decision: 'maybe', caller: '' }, now)).toEqual({
      from: new Date('2026-01-01T10:00').toISOString(),
    })
  })

  it('reports active filters and the selected range', () => {
    expect([hasFilters({ tab: 'usage' }), hasFilters({ tab: 'usage', outcome: 'ok' })]).toEqual([false, true])
    expect(countFilters({ tab: 'x', outcome: 'ok', tool: '', range: 'between', from: 'a', to: 'b' })).toBe(2)
    expect([rangeOf('7d', '24h'), rangeOf('9y', '24h'), rangeOf(undefined, '1h')]).toEqual(['7d', '24h', '1h'])
  })
})
