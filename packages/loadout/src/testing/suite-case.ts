import type { Storage } from '../storage/storage.ts'

/** One contract case; it fails by throwing. */
export interface SuiteCase {
  name: string
  run(): Promise<void>
}

/** Checks one case on a fresh storage. `deadlineMs` bounds waits for events that a broken driver never sends. */
export type CaseBody = (storage: Storage, deadlineMs: number) => Promise<void>
