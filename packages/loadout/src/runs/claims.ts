/**
 * Claims runs for this process. Guarantees:
 *
 * - A claimed run holds a slot (`run-slots.ts`), and the process lease is visible before the row names this process.
 * - A run is claimed once at a time; a process that loses the race releases its slot.
 * - `onFree` is called whenever a slot becomes free.
 */

import type { ProcessLease } from '../processes/heartbeat.ts'
import type { RunRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { EXTERNAL_OWNER, isAbandoned } from './provider/provider-rows.ts'
import { RunSlots } from './run-slots.ts'
import { waitsOf } from './step-log.ts'

/** A run that this process owns. */
export interface Claim {
  row: RunRow
  /** Releases the slot. */
  release(): void
}

export interface ClaimDeps {
  storage: Storage
  presence: ProcessLease
}

export class Claims {
  readonly #deps: ClaimDeps
  readonly #slots: RunSlots
  readonly #onFree: () => void
  /** Runs claimed in storage that have not started here yet. */
  readonly #underWay = new Set<string>()

  constructor(deps: ClaimDeps, atOnce: number, onFree: () => void) {
    this.#deps = deps
    this.#slots = new RunSlots(atOnce)
    this.#onFree = onFree
  }

  hasRoom(userId: string): boolean {
    return this.#slots.hasRoom(userId)
  }

  next(): Pick<RunRow, 'userId' | 'runId'> | undefined {
    return this.#slots.next()
  }

  isUnderWay(runId: string): boolean {
    return this.#underWay.has(runId)
  }

  /** Ends the claim phase: the run has started, or the claim failed. */
  done(runId: string): void {
    this.#underWay.delete(runId)
  }

  /** Claims a new run before it is stored, so that no other process takes it. */
  async make(fresh: RunRow, isInside: boolean): Promise<Claim | undefined> {
    // The parent run already holds a slot.
    const releaseSlot = isInside ? () => {} : this.#slots.take(fresh)
    if (!releaseSlot) return undefined
    const release = await this.#withLease(releaseSlot)
    this.#underWay.add(fresh.runId)
    return { row: { ...fresh, ...this.#ours() }, release }
  }

  wait(run: RunRow): void {
    this.#slots.wait(run)
    // A slot may have become free before the run waited.
    this.#onFree()
  }

  /** Claims a queued run, or queues it for a slot. */
  async claim(run: RunRow): Promise<Claim | undefined> {
    const { userId, runId } = run
    if (this.#underWay.has(runId)) return undefined
    const releaseSlot = this.#slots.take(run)
    if (!releaseSlot) {
      this.#slots.wait(run)
      return undefined
    }
    this.#underWay.add(runId)
    let release = releaseSlot
    let row: RunRow | undefined
    try {
      release = await this.#withLease(releaseSlot)
      const change = { set: this.#ours(), where: { status: 'queued' as const, leaseOwner: null } }
      row = await this.#deps.storage.transaction({ userId }, (tx) => tx.update('runs', runId, change))
      return row && { row, release }
    } finally {
      if (!row) {
        this.#underWay.delete(runId)
        release()
      }
    }
  }

  /** Releases slot and lease together; acquires the lease first. */
  async #withLease(releaseSlot: () => void): Promise<() => void> {
    const leave = () => {
      releaseSlot()
      this.#onFree()
    }
    try {
      const releaseLease = await this.#deps.presence.acquire()
      return () => {
        releaseLease()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  #ours() {
    const { processId } = this.#deps.presence
    return { status: 'running' as const, leaseOwner: processId, leaseUntil: null, updatedAt: new Date() }
  }
}

/** Finds orphaned and queued runs of all users. */
const caller = 'run-engine'
const PAGE = 100

export interface OrphanedRuns {
  /** Runs of dead processes, and paused runs past their deadline. */
  freed: RunRow[]
  /** Queued runs. */
  queued: RunRow[]
  /** Cursor of the next scan: many runs of one user must not hide those of others. */
  after: string | undefined
}

export function findOrphaned(
  storage: Storage,
  isLeft: (tx: Transaction, row: RunRow) => Promise<boolean>,
  after?: string | undefined,
): Promise<OrphanedRuns> {
  return storage.transaction({ caller }, async (tx) => {
    const freed: RunRow[] = []
    for (const row of await tx.list('runs', { where: { status: 'running' } }))
      if (row.leaseOwner === EXTERNAL_OWNER ? isAbandoned(row) : await isLeft(tx, row)) freed.push(row)
    const late = await tx.list('runs', {
      where: { status: 'paused' },
      between: { field: 'leaseUntil', to: new Date() },
      limit: PAGE,
    })
    freed.push(...late)
    const first = await tx.list('runs', { where: { status: 'queued' }, limit: PAGE })
    const from = [after ?? '', first.at(-1)?.runId ?? ''].sort().at(-1) as string
    const more = { where: { status: 'queued' as const }, after: from, limit: PAGE }
    const next = first.length < PAGE ? [] : await tx.list('runs', more)
    return { freed, queued: [...first, ...next], after: next.length < PAGE ? undefined : next.at(-1)?.runId }
  })
}

/** Finds paused runs whose answer exists: the wake-up was lost with its process or could not be stored. */
export async function findResumable(
  storage: Storage,
  hasAnswer: (userId: string, ids: readonly string[]) => Promise<boolean>,
): Promise<RunRow[]> {
  const newest = { where: { status: 'paused' as const }, order: 'desc' as const, limit: PAGE }
  const resumable: RunRow[] = []
  for (const row of await storage.transaction({ caller }, (tx) => tx.list('runs', newest))) {
    const { userId, runId } = row
    const where = { userId, runId, status: 'paused' as const }
    const steps = await storage.transaction({ userId }, (tx) => tx.list('steps', { where }))
    const approvalIds = steps.flatMap((step) => waitsOf(step).approvalId ?? [])
    if (approvalIds.length > 0 && (await hasAnswer(userId, approvalIds))) resumable.push(row)
  }
  return resumable
}
