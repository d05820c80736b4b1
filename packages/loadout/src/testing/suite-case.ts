import type { Storage } from '../storage/storage.ts'

/** One promise of a contract, as something that runs and fails by throwing. */
export interface SuiteCase {
  name: string
  run(): Promise<void>
}

/** What a case does with the fresh storage it is given. */
export type CaseBody = (storage: Storage) => Promise<void>
