/**
 * Fair semaphore for runs of this process. One user has a fair share; waiting runs of the user with the fewest slots
 * start first.
 */
import type { RunRow } from '../schema/records/run.ts'
import { FairSemaphore, hasFairShare, type SlotRequest } from '../util/fair-semaphore.ts'

type RunId = Pick<RunRow, 'userId' | 'runId'>

interface RunSlotRequest extends SlotRequest {
  userId: string
}

/** Runs above this limit are found by the next scan. */
const MAX_WAITING = 10_000

export class RunSlots {
  readonly #slots: FairSemaphore<RunSlotRequest>
  /** By user, in arrival order. */
  readonly #waiting = new Map<string, Set<string>>()
  #waits = 0

  constructor(capacity: number) {
    this.#slots = new FairSemaphore<RunSlotRequest>({
      keyOf: ({ userId }) => userId,
      isFree: (_, { total, used }) => hasFairShare(used, capacity - total),
    })
  }

  hasRoom(userId: string): boolean {
    return this.#slots.isFree({ userId })
  }

  /** Returns the release function; undefined if no slot is free. */
  take({ userId }: Pick<RunId, 'userId'>): (() => void) | undefined {
    if (!this.#slots.tryAcquire({ userId })) return undefined
    let isLeft = false
    return () => {
      if (!isLeft) this.#slots.release({ userId })
      isLeft = true
    }
  }

  wait({ userId, runId }: RunId): void {
    const runs = this.#waiting.get(userId) ?? new Set()
    if (runs.has(runId) || this.#waits >= MAX_WAITING) return
    this.#waiting.set(userId, runs.add(runId))
    this.#waits++
  }

  /** Removes and returns a waiting run that can get a slot now; the caller takes the slot. */
  next(): RunId | undefined {
    let least: string | undefined
    for (const userId of this.#waiting.keys())
      if (this.hasRoom(userId) && (least === undefined || this.#slots.used(userId) < this.#slots.used(least)))
        least = userId
    if (least === undefined) return undefined
    const runs = this.#waiting.get(least) as Set<string>
    const [runId = ''] = runs
    runs.delete(runId)
    this.#waits--
    // Moves the user behind others with as many slots.
    this.#waiting.delete(least)
    if (runs.size > 0) this.#waiting.set(least, runs)
    return { userId: least, runId }
  }
}
