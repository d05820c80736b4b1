/**
 * Audit log of every call and every change of configuration, credentials, grants and pins. An entry is durable when
 * `record` returns or resolves; the shipper then writes it to the database as a link of one hash chain. With `strict`,
 * `record` waits for the database.
 */
import type { ToolkitSecrets } from '../connections/known-secrets.ts'
import type { HostError } from '../errors.ts'
import { createIdGenerator } from '../schema/ids.ts'
import type { AuditView } from '../schema/records/audit.ts'
import type { Storage } from '../storage/storage.ts'
import { withTimeout } from '../util/abort.ts'
import { type CallAudit, createCallAudit } from './call-audit.ts'
import { type ChainEnd, type ChainVerdict, verifyChain, webSha256 } from './chain.ts'
import { type AuditInput, newEntry } from './entry.ts'
import { type Journal, memoryJournal } from './journal/journal.ts'
import { createShipper } from './journal/shipper.ts'
import {
  type AuditExportFormat,
  type AuditFilter,
  type AuditPage,
  type AuditReader,
  exportLog,
  listLog,
} from './read-log.ts'
import { chainBetween, chainEnds, eraseUser, pruneBefore, pruneTo } from './retention.ts'

export interface Audit {
  /** Durable when it returns or resolves. Throws `audit-unavailable` if the entry cannot be written. */
  record(input: AuditInput): void | Promise<void>
  /** Entries, newest first, including those that this process recorded just now. */
  list(
    reader: AuditReader,
    filter?: AuditFilter,
    page?: AuditPage,
  ): Promise<{ items: AuditView[]; nextCursor?: string }>
  /** The entries as a file, in chunks. */
  export(reader: AuditReader, format: AuditExportFormat, filter?: AuditFilter): AsyncIterable<string>
  /** Verifies the hash chain and reports the first invalid row. */
  verify(): Promise<ChainVerdict>
  /** Erases a user from the log. Returns the number of changed entries. */
  erase(userId: string): Promise<number>
  /** Deletes older entries. Returns their number. */
  prune(olderThan: Date): Promise<number>
  /** Resolves when all entries recorded so far are in the database. */
  flush(): Promise<void>
}

/** Members that only the host uses. */
export interface RunningAudit extends Audit {
  readonly calls: CallAudit
  /** Number of entries of this process that are not in the database yet. */
  unshipped(): number
  /** Recovers journals of dead processes and starts the retention timer. */
  start(): Promise<void>
  close(): Promise<void>
}

export interface AuditOptions {
  /** Buffers entries until the database has them. `fileJournal()` of `@loadout/core/node` survives the process. */
  journal?: Journal
  /** Waits for the database before a call is made. @default true without a journal, if the storage is persistent */
  strict?: boolean
  /** Maximum number of entries. @default 10_000 in memory, 2_000 in a browser, otherwise unlimited */
  maxRows?: number
  /** Receives errors that keep entries from the database. */
  onProblem?: (error: HostError) => void
}

export interface AuditDeps extends AuditOptions {
  storage: Storage
  secrets: Pick<ToolkitSecrets, 'list'>
  /** Retention period in days; undefined keeps entries forever. */
  retentionDays(): Promise<number | undefined>
}

const DAY_MS = 86_400_000
const READ_FLUSH_MS = 2000
/** These storages scan all rows of a user on every write, so their log is capped. */
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
  // Readers see recent entries, but a slow or failing database must not fail or delay the read.
  const settled = () =>
    withTimeout(
      shipper.flush().catch(() => {}),
      READ_FLUSH_MS,
    )
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

/** Prunes at the start and then once a day. */
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

/** Prunes only when the log exceeds `maxRows` by 25 %, so that most writes prune nothing. */
function trimmer(storage: Storage, maxRows: number): (end: ChainEnd) => void {
  let from: number | undefined
  return ({ seq }) => {
    if (seq - (from ?? 0) < maxRows * 1.25) return
    from = seq - maxRows
    void pruneTo(storage, from).catch(() => {})
  }
}
