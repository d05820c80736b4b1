import { expect, it } from 'vitest'
import type { Toolkit } from '../../lib/api.ts'
import { riskOf, toolOf } from './risk.ts'
import { timeAgo, timeLeft } from './time-left.ts'

it('riskOf rates a call and trusts annotations of trusted servers only', () => {
  expect(riskOf({ readOnlyHint: true }, true).level).toBe('reads')
  expect(riskOf({ readOnlyHint: true }, false).level).toBe('unknown')
  expect(riskOf({ readOnlyHint: true, destructiveHint: true }, true).level).toBe('destroys')
  expect(riskOf(undefined, true).level).toBe('unknown')
  expect(riskOf({ destructiveHint: false }, true)).toEqual({ level: 'changes', detail: '' })
  // Missing annotations mean the worst case (MCP). The badge shows it, so the detail is empty.
  expect(riskOf({}, true)).toEqual({ level: 'destroys', detail: '' })
  expect(riskOf({ destructiveHint: true, openWorldHint: true, idempotentHint: true }, true).detail).toBe(
    'It also reaches outside of this server. Doing it twice does no more than once.',
  )
})

it('toolOf finds the tool of an approval request, also a removed tool', () => {
  const kit = {
    id: 'kit',
    name: 'Kit',
    options: { account: 'me', untrusted: false },
    tools: [{ name: 'a.b', title: 'Tool', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }],
  } as unknown as Toolkit
  expect(toolOf('kit.a.b', [kit])).toMatchObject({
    title: 'Tool',
    toolkitName: 'Kit',
    account: 'me',
    risk: { level: 'reads' },
  })
  expect(toolOf('gone.x', [kit])).toMatchObject({ title: 'x', toolkitName: 'gone', risk: { level: 'unknown' } })
})

it('timeLeft counts down', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
  expect([0, -5].map((seconds) => timeLeft(at(seconds), now))).toEqual([undefined, undefined])
  expect([5, 125, 900, 7200, 86_400 * 7].map((seconds) => timeLeft(at(seconds), now))).toEqual([
    '5 s',
    '2 min 5 s',
    '15 min',
    '2 h',
    '7 days',
  ])
  expect([-10, -300, -7200].map((seconds) => timeAgo(at(seconds), now))).toEqual([
    'just now',
    '5 minutes ago',
    '2 hours ago',
  ])
})

it('toolOf does not treat a workflow approval request as an unknown tool', () => {
  expect(toolOf('workflow.ask', []).risk.level).toBe('asks')
  expect(toolOf('nobody.ask', []).risk.level).toBe('unknown')
})
