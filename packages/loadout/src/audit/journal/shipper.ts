/**
 * Moves entries from the journal to the database, in batches, as one unbroken chain over all processes. A batch is one
 * transaction: compare-and-set the head of the chain, then insert the rows. After a conflict, the rows are linked again
 * to the new head. While the database is unavailable the journal is the queue, and memory holds one batch. Entries of
 * removed users are stored without the user: the removal is read under the lock of the head, which erasing takes too.
 */
import { HostError } from '../../errors.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import type { AuditRow } from '../../schema/records/audit.ts'
import type { Storage, Transaction } from '../../storage/storage.ts'
import { RemovedInLog } from '../../users/removals.ts'
import {
  type ChainEnd,
  chainRows,
  erasedRow,
  GENESIS,
  type SealedContent,
  type Sha256,
  sealContents,
} from '../chain.ts'
import { contentOf } from '../entry.ts'
import type { Journal, JournalBatch } from './journal.ts'

export interface ShipperDeps {
  storage: Storage
  journal: Journal
  sha256: Sha256
  /** Receives errors that keep entries from the database. */
  onProblem(error: HostError): void
  /** Receives the new end of the chain. */
  onShipped?: ((end: ChainEnd) => void) | undefined
  /** Batching delay in ms. @default 200 */
  everyMs?: number | undefined
  /**
   * Maximum delay in ms while more entries arrive. Calls have priority, because the entries are durable. @default 5000
   */
  mostMs?: number | undefined
  /** Batch size. @default 500 */
  batch?: number | undefined
}

export interface Shipper {
  /** Number of entries of this process that are not stored yet. */
  readonly waiting: number
  /** Reports an appended entry. */
  poke(): void
  /** Resolves when all entries appended so far are stored; rejects if the database fails. */
  flush(): Promise<void>
  /** Recovers journals of dead processes, now and periodically. */
  start(): Promise<void>
  close(): Promise<void>
}

const ACCESS = { caller: 'audit-shipping', userId: APP_OWNER } as const
const MAX_PAUSE_MS = 30_000
const RECOVER_MS = 30_000
const MAX_THROTTLE_MS = 1000
const MAX_CONFLICTS = 200
const QUIET_MS = 50

interface Waiter {
  target: number
  resolve(): void
  reject(error: HostError): void
}

export function createShipper(deps: ShipperDeps): Shipper {
  return new BatchShipper(deps)
}

class BatchShipper implements Shipper {
  readonly #deps: ShipperDeps
  readonly #everyMs: number
  readonly #mostMs: number
  readonly #batch: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #recoveryTimer: ReturnType<typeof setInterval> | undefined
  #running = false
  #wake: (() => void) | undefined
  #pauseMs = 0
  /** Counts of appended and stored entries of this process. */
  #appended = 0
  #appendedAt = 0
  /** Time since which the oldest unstored entry waits. */
  #waitingSince = 0
  #stored = 0
  #waiters: Waiter[] = []
  #head: ChainEnd | undefined
  #checkStored = false
  #closed = false
  readonly #removed: RemovedInLog

  constructor(deps: ShipperDeps) {
    this.#deps = deps
    this.#everyMs = deps.everyMs ?? 200
    this.#mostMs = deps.mostMs ?? 5000
    this.#batch = deps.batch ?? 500
    this.#removed = new RemovedInLog(deps.sha256)
  }

  get waiting(): number {
    return this.#appended - this.#stored
  }

  poke(): void {
    this.#appended++
    this.#appendedAt = performance.now()
    if (this.#timer !== undefined || this.#running || this.#closed) return
    this.#waitingSince = this.#appendedAt
    this.#later(this.#everyMs)
  }

  flush(): Promise<void> {
    if (this.#stored === this.#appended && !this.#running) return Promise.resolve()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiters.push({ target: this.#appended, resolve, reject })
    this.#wake?.()
    this.#run()
    return promise
  }

  async start(): Promise<void> {
    const recover = async () => {
      if ((await this.#deps.journal.recover()) > 0) this.#run()
    }
    await recover()
    if (this.#closed) return
    this.#recoveryTimer = setInterval(() => void recover().catch(() => {}), RECOVER_MS)
    unref(this.#recoveryTimer)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    clearInterval(this.#recoveryTimer)
    await this.flush().finally(() => this.#deps.journal.close())
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isBusy()) this.#later(this.#everyMs)
      else this.#run()
    }, ms)
    // Pending entries are durable in the journal, so the timer need not keep the process alive.
    unref(this.#timer)
  }

  /** Whether entries still arrive and the oldest has not reached the maximum delay. */
  #isBusy(): boolean {
    const now = performance.now()
    return now - this.#appendedAt < QUIET_MS && now - this.#waitingSince < this.#mostMs
  }

  #run(): void {
    if (this.#running) return
    this.#running = true
    this.#drain().catch((thrown: unknown) => this.#failed(HostError.from(thrown)))
  }

  async #drain(): Promise<void> {
    for (;;) {
      const started = performance.now()
      const batch = this.#deps.journal.read(this.#batch)
      if (!batch) return this.#drained()
      await this.#store(batch)
      this.#pauseMs = 0
      this.#stored += batch.own
      this.#settle()
      // In the background, shipping uses at most a third of the time; with waiters, all of it.
      if (this.#waiters.length === 0) await this.#throttle((performance.now() - started) * 2)
    }
  }

  /** Must run in the same turn as the empty read, so that no append can happen in between. */
  #drained(): void {
    this.#running = false
    this.#stored = this.#appended
    this.#settle()
  }

  #settle(): void {
    const done = this.#waiters.filter(({ target }) => target <= this.#stored)
    if (done.length === 0) return
    this.#waiters = this.#waiters.filter(({ target }) => target > this.#stored)
    for (const { resolve } of done) resolve()
  }

  #failed(error: HostError): void {
    this.#running = false
    const waiters = this.#waiters
    this.#waiters = []
    for (const { reject } of waiters) reject(error)
    this.#deps.onProblem(error)
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(this.#everyMs, this.#pauseMs * 2))
    if (this.#timer === undefined && !this.#closed) this.#later(this.#pauseMs)
  }

  async #throttle(ms: number): Promise<void> {
    if (ms < 1) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, MAX_THROTTLE_MS))
      unref(timer)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }

  async #store(batch: JournalBatch): Promise<void> {
    const { sha256, onShipped } = this.#deps
    let sealed = await sealContents(batch.entries.map(contentOf), sha256)
    let checkStored = this.#checkStored || batch.maybeStored
    for (let conflicts = 0; ; conflicts++) {
      if (checkStored) sealed = await this.#missing(sealed)
      if (sealed.length === 0) break
      const end = await this.#commit(sealed).catch((error: unknown) => {
        this.#head = undefined
        this.#checkStored = true
        // A commit that seemed to fail was stored, or two processes created the head at once.
        if (HostError.is(error) && error.code === 'conflict') return undefined
        throw error
      })
      if (end) {
        this.#head = end
        onShipped?.(end)
        break
      }
      checkStored = checkStored || this.#checkStored
      if (conflicts > MAX_CONFLICTS)
        throw new HostError('storage-unavailable', { detail: 'The log has too many writers.' })
    }
    this.#checkStored = false
    batch.shipped()
  }

  /** Returns the new end of the chain, or undefined after a conflict. */
  async #commit(sealed: readonly SealedContent[]): Promise<ChainEnd | undefined> {
    const { storage, sha256 } = this.#deps
    const from = this.#head ?? (await storage.transaction(ACCESS, readHead))
    const { rows, end } = await chainRows(sealed, from, sha256)
    const names = await this.#removed.namesOf(rows)
    const withoutRemoved = async (tx: Transaction) => {
      await this.#removed.refresh(tx)
      return rows.map((row) => (this.#removed.has(row, names) ? erasedRow(row) : row))
    }
    const committed = await storage.transaction(ACCESS, (tx) => append(tx, { rows: withoutRemoved, from, end }))
    if (!committed) this.#head = undefined
    return committed ? end : undefined
  }

  /** Filters out entries that the database already has, under their user or without one. */
  async #missing(sealed: readonly SealedContent[]): Promise<SealedContent[]> {
    const seen = new Set<string>()
    return this.#deps.storage.transaction(ACCESS, async (tx) => {
      const missing: SealedContent[] = []
      for (const content of sealed) {
        if (seen.has(content.entryId)) continue
        seen.add(content.entryId)
        const owners = new Set([content.userId, APP_OWNER])
        const found = await Promise.all(
          [...owners].map((userId) => tx.list('audit', { where: { userId, entryId: content.entryId }, limit: 1 })),
        )
        if (found.every((rows) => rows.length === 0)) missing.push(content)
      }
      return missing
    })
  }
}

async function readHead(tx: Transaction): Promise<ChainEnd> {
  const head = await tx.get('auditHeads', 'head')
  return head ? { seq: head.seq, hash: head.hash } : GENESIS
}

/** Appends rows. Returns false if the head has moved. */
async function append(
  tx: Transaction,
  { rows, from, end }: { rows(tx: Transaction): Promise<AuditRow[]>; from: ChainEnd; end: ChainEnd },
): Promise<boolean> {
  const set = { ...end, updatedAt: new Date() }
  const updated = await tx.update('auditHeads', 'head', { set, where: { seq: from.seq, hash: from.hash } })
  if (!updated && (from.seq !== 0 || (await tx.get('auditHeads', 'head')))) return false
  // Two processes that create the head collide on its key, and one retries.
  if (!updated) await tx.insert('auditHeads', { headId: 'head', ...set })
  await tx.insertAll('audit', await rows(tx))
  return true
}

/** Browser timers are numbers and have no `unref`. */
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
}
