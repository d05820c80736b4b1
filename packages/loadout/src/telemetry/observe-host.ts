/** Observes the pool and its processes on each collection, and counts approvals by their events. */
import type { Emitter } from '../events.ts'
import type { ConnectionCounts } from './counters.ts'
import type { Telemetry } from './telemetry.ts'

export interface ObservedHost {
  events: Emitter
  connector: { counts(): ConnectionCounts }
  audit: { unshipped(): number }
}

/** Returns a function that stops it. */
export function observeHost({ counters }: Telemetry, { events, connector, audit }: ObservedHost): () => void {
  if (!counters) return () => {}
  const stops = [
    counters.watch(() => ({ ...connector.counts(), unshipped: audit.unshipped() })),
    events.on('approval-requested', () => counters.approval('asked')),
    events.on('approval-answered', ({ status }) => counters.approval(status)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
