import { describe, expect, it } from 'vitest'
import { formatAction, summaryOf, toActivityItems } from './activity-items.ts'
import type { AuditEntry } from './queries.ts'

const line = (id: string, more: Partial<AuditEntry>): AuditEntry => ({
  id,
  at: '2026-01-01T00:00:00Z',
  userId: 'ann',
  action: 'mcp_tool_call',
  source: 'mcp:kit',
  ref: 'kit.t',
  outcome: null,
  threadId: null,
  runId: null,
  callId: null,
  detail: {},
  hash: '',
  ...more,
})

describe('the activity list', () => {
  it('merges the two log entries of a call into its final state', () => {
    const found = toActivityItems([
      line('5', { callId: 'b', outcome: 'started', detail: { arguments: {} } }),
      line('4', { callId: 'a', outcome: 'ok', detail: { durationMs: 3 } }),
      line('3', { callId: 'x', action: 'approval_answered', outcome: 'allowed' }),
      line('2', { callId: 'a', outcome: 'started', detail: { arguments: { q: 1 }, decision: 'allow' } }),
      line('1', { action: 'grant_added', source: '', callId: 'a' }),
    ])
    expect(found.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['5', 'started'],
      ['4', 'ok'],
      ['3', 'allowed'],
      ['1', null],
    ])
    expect(found[1]).toMatchObject({
      toolkit: 'kit',
      detail: { durationMs: 3, arguments: { q: 1 }, decision: 'allow' },
    })
    expect(found[3]?.toolkit).toBeUndefined()
  })

  it('has a label for every action, also an unknown one', () => {
    expect(['mcp_tool_call', 'order_paid', 'constructor'].map(formatAction)).toEqual([
      'Call',
      'Order paid',
      'Constructor',
    ])
  })

  it('summarizes a change without IDs', () => {
    const detail = { toolkit: 'kit', uscoId: 'usco_1', set: ['TOKEN', 'KEY'], cleared: [] }
    expect(summaryOf({ action: 'credential_set', detail })).toBe('toolkit: kit · set: TOKEN, KEY · cleared: ')
    expect(summaryOf({ action: 'mcp_tool_call', detail })).toBe('')
  })
})
