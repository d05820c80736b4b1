/**
 * The PostgreSQL schema `mcp`, for PGlite and PostgreSQL alike. Rows mirror `schema/`; `tables.test-d.ts` holds the
 * types against each other. Every table with user data has the key (user_id, id), so no foreign key crosses users.
 * Row-level security, roles and triggers are in `migrations/0001_tenancy.sql`: Drizzle cannot write them.
 */
import type { Collection } from '../collections.ts'
import { appConfig, servers, serverVersions, tools } from './tables/market.ts'
import {
  audit,
  auditHeads,
  calls,
  places,
  processes,
  removedUsers,
  resultChunks,
  results,
  runs,
  steps,
  usage,
  workflows,
  workflowVersions,
} from './tables/runs.ts'
import { loadedTools, toolUses, toolVectors } from './tables/search.ts'
import { activations, apiKeys, approvals, grants, policyRules, preferences, threads } from './tables/threads.ts'
import { credentials, personalCatalogs, pins, signIns, userServerConfigs, userServerTools } from './tables/toolkits.ts'

export { mcp } from './tables/columns.ts'
export {
  activations,
  apiKeys,
  appConfig,
  approvals,
  audit,
  auditHeads,
  calls,
  credentials,
  grants,
  loadedTools,
  personalCatalogs,
  pins,
  places,
  policyRules,
  preferences,
  processes,
  removedUsers,
  resultChunks,
  results,
  runs,
  servers,
  serverVersions,
  signIns,
  steps,
  threads,
  tools,
  toolUses,
  toolVectors,
  usage,
  userServerConfigs,
  userServerTools,
  workflows,
  workflowVersions,
}

export const TABLES = {
  servers,
  serverVersions,
  tools,
  appConfig,
  userServerConfigs,
  userServerTools,
  personalCatalogs,
  pins,
  preferences,
  threads,
  activations,
  loadedTools,
  toolUses,
  toolVectors,
  policyRules,
  credentials,
  signIns,
  approvals,
  grants,
  audit,
  auditHeads,
  calls,
  results,
  resultChunks,
  usage,
  places,
  removedUsers,
  processes,
  workflows,
  workflowVersions,
  runs,
  steps,
  apiKeys,
} satisfies Record<Collection, unknown>
