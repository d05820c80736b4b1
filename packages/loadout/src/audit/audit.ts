/**
 * What happened: every call, and every change of configuration, credentials, grants and pins. An entry is safe when
 * `record` returns (or resolves); it then goes to the database behind, as a link of one chain. `strict` waits for that.
 */
import type { ToolkitSecrets } from '../connections/known-secrets.ts'
import type { HostError } from '../errors.ts'
import { createIdGenerator } from '../schema/ids.ts'
import type { AuditView } from '../schema/records/audit.ts'
import type { Storage } from '../storage/storage.ts'
import { type CallAudit, createCallAudit } from './call-audit.ts'
import { type ChainEnd, type ChainVerdict, verifyChain, webSha256 } from './chain.ts'
import { type AuditInput, newEntry } from './entry.ts'
import { type Journal, memoryJournal } from './journal/journal.ts'
import { createShipper } from './journal/shipper.ts'
import {
  type AuditFilter,
  type AuditPage,
  type AuditReader,
  type ExportFormat,
  exportLog,
  listLog,
} from './read-log.ts'
import { chainBetween, chainEnds, eraseUser, pruneBefore, pruneTo } from './retention.ts'

export interface Audit {
  /** Safe when it returns, or resolves. Throws `audit-unavailable` where it cannot be kept. */
  record(input: AuditInput): void | Promise<void>
  /** The newest first. What this process recorded just now is among them. */
  list(
    reader: AuditReader,
    filter?: AuditFilter,
    page?: AuditPage,
  ): Promise<{ items: AuditView[]; nextCursor?: string }>
  /** The same as a file, piece by piece. */
  export(reader: AuditReader, format: ExportFormat, filter?: AuditFilter): AsyncIterable<string>
  /** Whether the log is whole, and where it is not. */
  verify(): Promise<ChainVerdict>
  /** Removes a person from it. Says from how many lines. */
  erase(userId: string): Promise<number>
  /** Removes what is older. Says how many lines. */
  prune(olderThan: Date): Promise<number>
  /** Resolves when all that was recorded before is stored. */
  flush(): Promise<void>
}

/** What only the host needs of it. */
export interface RunningAudit extends Audit {
  readonly calls: CallAudit
  /** How many lines of this process the database does not have yet. */
  unshipped(): number
  /** Takes over what dead processes left, and begins to keep the operator's retention. */
  start(): Promise<void>
  close(): Promise<void>
}

export interface AuditOptions {
  /** Where entries wait for the database. `fileJournal()` of `@loadout/core/node` outlives the process. */
  journal?: Journal
  /** Waits for the database before a call is made. @default true without a journal, where the storage outlives the process */
  strict?: boolean
  /** How many lines are kept. @default 10_000 in memory, 2_000 in a browser, else all */
  maxRows?: number
  /** Told of what keeps the log from the database. */
  onProblem?: (error: HostError) => void
}

export interface AuditDeps extends AuditOptions {
  storage: Storage
  secrets: Pick<ToolkitSecrets, 'list'>
  /** How long the operator keeps the log; undefined is for ever. */
  retentionDays(): Promise<number | undefined>
}

const DAY_MS = 86_400_000
const READ_FLUSH_MS = 2000
/** In storages that look at every row of a user for every change of one. */
const MAX_ROWS: Readonly<Record<string, number>> = { memory: 10_000, indexeddb: 2000 }

export function createAudit(deps: AuditDeps): RunningAudit {
  const { storage, journal = memoryJournal(), onProblem = () => {}, maxRows = MAX_ROWS[storage.name] } = deps
  const strict = deps.strict ?? (deps.journal === undefined && storage.name !== 'memory')
  const sha256 = journal.sha256 ?? webSha256
  const trim = maxRows === undefined ? undefined : trimmer(storage, maxRows)
  const shipper = createShipper({ storage, journal, sha256, onProblem, onShipped: trim })
  const newEntryId = createIdGenerator('auditEntry')
  let started = false
  const start = () => {
    started = true
    return shipper.start().catch(onProblem)
  }
  const record = (input: AuditInput, follows = false): void | Promise<void> => {
    if (!started) void start()
    const entry = newEntry(newEntryId(), input)
    const written = follows ? journal.follow(entry) : journal.append(entry)
    shipper.poke()
    if (strict) return Promise.resolve(written).then(() => shipper.flush())
    return written
  }
  // A reader wants what just happened, but not an error, or to wait long, because of it.
  const settled = () => within(READ_FLUSH_MS, shipper.flush())
  const retention = keepRetention(storage, deps)
  return {
    record: (input) => record(input),
    calls: createCallAudit({ record, secrets: deps.secrets }),
    async list(reader, filter = {}, page = {}) {
      await settled()
      return listLog(storage, reader, { filter, page })
    },
    async *export(reader, format, filter = {}) {
      await settled()
      yield* exportLog(storage, reader, { filter, format })
    },
    async verify() {
      const { anchor, head } = await chainEnds(storage)
      return verifyChain(chainBetween(storage, anchor, head), { anchor, head, sha256 })
    },
    async erase(userId) {
      await shipper.flush()
      return eraseUser(storage, userId)
    },
    prune: (olderThan) => pruneBefore(storage, olderThan),
    flush: () => shipper.flush(),
    unshipped: () => shipper.waiting,
    async start() {
      if (!started) await start()
      retention.start()
    },
    async close() {
      retention.stop()
      await shipper.close().catch(() => {})
    },
  }
}

/** Once at the start and then every day. */
function keepRetention(storage: Storage, { retentionDays, onProblem }: AuditDeps) {
  let timer: ReturnType<typeof setInterval> | undefined
  const prune = async () => {
    const days = await retentionDays()
    if (days !== undefined) await pruneBefore(storage, new Date(Date.now() - days * DAY_MS))
  }
  const tick = () => void prune().catch((error: HostError) => onProblem?.(error))
  return {
    start() {
      tick()
      timer ??= setInterval(tick, DAY_MS)
      if (typeof timer === 'object' && 'unref' in timer) timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

/** Lets the oldest go a good part at a time. */
function trimmer(storage: Storage, maxRows: number): (end: ChainEnd) => void {
  let from: number | undefined
  return ({ seq }) => {
    if (seq - (from ?? 0) < maxRows * 1.25) return
    from = seq - maxRows
    void pruneTo(storage, from).catch(() => {})
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work.catch(() => {}), timeout])
  clearTimeout(timer)
}
