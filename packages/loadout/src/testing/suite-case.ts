import type { Storage } from '../storage/storage.ts'

/** One promise of a contract, as something that runs and fails by throwing. */
export interface SuiteCase {
  name: string
  run(): Promise<void>
}

/** Checks one promise on a fresh storage. A case waits up to `deadlineMs` for something that a broken driver never does. */
export type CaseBody = (storage: Storage, deadlineMs: number) => Promise<void>
