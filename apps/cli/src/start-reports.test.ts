import { expect, it } from 'vitest'
import { startReports } from './start-reports.ts'

it('names the phase and the last output line of a server that is starting', () => {
  const lines = startReports([
    {
      id: 'late',
      toolCount: 0,
      state: { status: 'connecting', phase: 'installing', lastLine: 'Installed 12 packages' },
    },
    { id: 'new', toolCount: 0, state: { status: 'connecting' } },
  ])
  expect(lines).toEqual(['late is installing: Installed 12 packages'])
})

it('gives the reason and the fix of a server that failed or was cancelled', () => {
  const cancelled = { code: 'cancelled', reason: 'The start was cancelled.', action: 'Refresh the server.' }
  expect(
    startReports([
      {
        id: 'a',
        toolCount: 0,
        state: { status: 'error', code: 'server-crashed', reason: 'Ended.', action: 'Fix it.' },
      },
      { id: 'b', toolCount: 0, state: { status: 'disconnected', ...cancelled } },
      { id: 'c', toolCount: 1, state: { status: 'connected' } },
    ]),
  ).toEqual([
    'a failed (server-crashed): Ended. Fix it.',
    'b is disconnected: The start was cancelled. Refresh the server.',
    'c is connected: 1 tool',
  ])
})
