/** Transports that the app built for single runs: kept in this process alone, stored nowhere, and let go with their run. */
import type { Transports } from '../loadout/setup/find-toolkits.ts'

export type { Transports }

export interface RunTransports {
  set(runId: string, transports: Transports): void
  get(runId: string): Transports
  forget(runId: string): void
}

/** Runs that were cancelled while they waited never come back for theirs: the oldest go. */
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
