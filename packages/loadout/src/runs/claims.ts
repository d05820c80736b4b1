/**
 * Makes runs ours. What holds:
 *
 * - A run that is ours has a place (`run-places.ts`), and others see this process as alive before the row says so.
 * - One is claimed once at a time; whoever loses it to another process gives its place back.
 * - Where a place comes free, that is said: those who wait are served.
 */

import type { ProcessLease } from '../processes/heartbeat.ts'
import type { RunRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { EXTERNAL_OWNER, isAbandoned } from './provider/provider-rows.ts'
import { RunSlots } from './run-slots.ts'
import { waitsOf } from './step-log.ts'

/** A run that is ours. */
export interface Claim {
  row: RunRow
  /** Gives its place back. */
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
  /** Between the row and the work. */
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

  /** It is worked on from here on, or not at all. */
  done(runId: string): void {
    this.#underWay.delete(runId)
  }

  /** One that is new, ours from the first where there is room: whoever hears of it before that would take it. */
  async make(fresh: RunRow, isInside: boolean): Promise<Claim | undefined> {
    // Who waits for it holds a place already.
    const releaseSlot = isInside ? () => {} : this.#slots.take(fresh)
    if (!releaseSlot) return undefined
    const release = await this.#withLease(releaseSlot)
    this.#underWay.add(fresh.runId)
    return { row: { ...fresh, ...this.#ours() }, release }
  }

  wait(run: RunRow): void {
    this.#slots.wait(run)
    // A place may have come free before it waited.
    this.#onFree()
  }

  /** One that nobody has. Where there is no room for it, it waits. */
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

  /** The place, with others that see this process as alive. */
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

/** Runs that nobody works on, whoever's they are. */
const caller = 'run-engine'
const PAGE = 100

export interface OrphanedRuns {
  /** Left by processes that are gone, or past its time to wait. */
  freed: RunRow[]
  /** What waits to begin. */
  queued: RunRow[]
  /** Where the next look goes on: many of one user must not hide those behind them. */
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

/** Of the newest that wait, those whose answer is there: its wake was lost with its process, or could not be written. */
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
