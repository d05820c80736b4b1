/** How a host opens, and how it closes: in an order in which nothing needs what is closed already. */
import type { RunningAudit } from '../audit/audit.ts'
import type { Concurrency } from '../calls/limits/concurrency.ts'
import type { RunningRecords } from '../calls/records/call-records.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Connector } from '../connections/connector.ts'
import type { CredentialStore } from '../credentials/credential-store.ts'
import type { Emitter } from '../events.ts'
import { followToolkits } from '../loadout/setup/follow-toolkits.ts'
import type { Approvals } from '../policy/approvals/approvals.ts'
import type { Budgets } from '../policy/limits/budgets.ts'
import type { ProcessLease } from '../processes/heartbeat.ts'
import { createHousekeeping } from '../processes/retention.ts'
import type { Answers } from '../runs/answers.ts'
import type { LoadedTools } from '../search/loaded-tools.ts'
import type { ToolUsage } from '../search/usage/tool-usage.ts'
import type { ReadCache, Storage } from '../storage/storage.ts'
import type { Sources } from '../toolkits/sources/sources.ts'
import type { UserRemovalListener } from '../users/end-work.ts'
import type { HostRuns } from './wire-runs.ts'

interface LifecycleDeps {
  storage: Storage
  credentials: Pick<CredentialStore, 'check'>
  lostKeys: readonly string[] | undefined
  events: Emitter
  cache: ReadCache
  sources: Sources
  presence: ProcessLease
  connector: Connector
  catalog: Catalog
  approvals: Approvals
  budgets: Budgets
  concurrency: Concurrency
  records: RunningRecords
  cancel: { close(): void }
  userRemovals: UserRemovalListener
  learned: ToolUsage
  loaded: Pick<LoadedTools, 'flush'>
  runs: Pick<HostRuns, 'engine' | 'stop' | 'close'>
  answers: Pick<Answers, 'close'>
  audit: RunningAudit
  /** Ends what listens to the host. */
  unobserve(): void
  unrecord(): void
}

export function createLifecycle(parts: LifecycleDeps) {
  const { storage, connector, audit } = parts
  const following = followToolkits({ storage, events: parts.events, connections: connector })
  const housekeeping = createHousekeeping(storage)
  return {
    async ready() {
      await storage.ready()
      await parts.credentials.check(parts.lostKeys)
      await audit.start()
      await following.start()
      await parts.userRemovals.start()
      await parts.sources.ready()
      housekeeping.start()
      await parts.runs.engine.open()
    },
    async close() {
      parts.unobserve()
      parts.runs.stop()
      parts.answers.close()
      // What it works on is left to others; their calls end with it.
      await parts.runs.close()
      parts.cancel.close()
      const recorded = parts.records.close()
      await housekeeping.stop()
      await parts.userRemovals.stop()
      await parts.sources.close()
      parts.approvals.close()
      await parts.budgets.close()
      await connector.close()
      // Calls are over by now; what they held goes back, and what came of them is written.
      await parts.concurrency.close()
      await recorded
      await parts.learned.flush()
      await parts.loaded.flush()
      await parts.presence.close()
      await parts.catalog.settled()
      parts.unrecord()
      await audit.close()
      parts.cache.close()
      await following.stop()
      await storage.close()
    },
  }
}
