/** Holds app-built transports of runs in this process only; they are never stored and are removed with their run. */
import { LRUCache } from 'lru-cache'
import type { Transports } from '../loadout/setup/find-toolkits.ts'

export type { Transports }

export interface RunTransports {
  set(runId: string, transports: Transports): void
  get(runId: string): Transports
  forget(runId: string): void
}

/** Runs cancelled while paused never remove their transports, so the least recently used are evicted. */
const MAX_RUNS = 10_000

export function createRunTransports(): RunTransports {
  const byRun = new LRUCache<string, Transports>({ max: MAX_RUNS })
  return {
    set: (runId, transports) => void byRun.set(runId, { ...transports }),
    get: (runId) => byRun.get(runId) ?? {},
    forget: (runId) => void byRun.delete(runId),
  }
}
