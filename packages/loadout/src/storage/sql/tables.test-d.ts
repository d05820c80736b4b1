/** Rows of the database and rows of the schema are the same type, table by table. Checked by `tsc`. */
import type { InferSelectModel } from 'drizzle-orm'
import type { Collection, Row } from '../collections.ts'
import type { TABLES } from './tables.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = { [K in keyof T]: T[K] }

type Agreement = { [C in Collection]: Same<Flat<InferSelectModel<(typeof TABLES)[C]>>, Flat<Row<C>>> }

/** A collection that differs makes this line fail, and its name stands in the error. */
export const agreed: {
  [C in Collection]: Agreement[C] extends true ? true : ['the table differs from the schema', C]
} = {
  servers: true,
  serverVersions: true,
  tools: true,
  appConfig: true,
  userServerConfigs: true,
  userServerTools: true,
  pins: true,
  preferences: true,
  threads: true,
  messages: true,
  activations: true,
  loadedTools: true,
  toolUses: true,
  toolVectors: true,
  policyRules: true,
  credentials: true,
  signIns: true,
  personalCatalogs: true,
  approvals: true,
  grants: true,
  audit: true,
  auditHeads: true,
  calls: true,
  results: true,
  resultChunks: true,
  usage: true,
  places: true,
  removedUsers: true,
  processes: true,
  workflows: true,
  workflowVersions: true,
  runs: true,
  steps: true,
  apiKeys: true,
  users: true,
  accounts: true,
  sessions: true,
  signInLinks: true,
  signInAttempts: true,
}
