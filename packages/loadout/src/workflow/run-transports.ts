/** Holds app-built transports of runs in this process only; they are never stored and are removed with their run. */
import type { Transports } from '../loadout/setup/find-toolkits.ts'

export type { Transports }

export interface RunTransports {
  set(runId: string, transports: Transports): void
  get(runId: string): Transports
  forget(runId: string): void
}

/** Runs cancelled while paused never remove their transports, so the oldest are evicted. */
const MAX_RUNS = 10_000

export function createRunTransports(): RunTransports {
  const byRun = new Map<string, Transports>()
  return {
    set(runId, transports) {
      byRun.set(runId, { ...transports })
      const [oldest] = byRun.keys()
      if (byRun.size > MAX_RUNS && oldest !== undefined) byRun.delete(oldest)
    },
    get: (runId) => byRun.get(runId) ?? {},
    forget: (runId) => void byRun.delete(runId),
  }
}
