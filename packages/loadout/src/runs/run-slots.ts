/**
 * Fair semaphore for runs of this process. One user has a fair share; waiting runs of the user with the fewest slots
 * start first.
 */

import type { RunRow } from '../schema/records/run.ts'

type RunId = Pick<RunRow, 'userId' | 'runId'>

/** Runs above this limit are found by the next scan. */
const MAX_WAITING = 10_000

export class RunSlots {
  readonly #capacity: number
  readonly #slotsByUser = new Map<string, number>()
  /** By user, in arrival order. */
  readonly #waiting = new Map<string, Set<string>>()
  #taken = 0
  #waits = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  hasRoom(userId: string): boolean {
    return hasFairShare(this.#slotsByUser.get(userId) ?? 0, this.#capacity - this.#taken)
  }

  /** Returns the release function; undefined if no slot is free. */
  take({ userId }: Pick<RunId, 'userId'>): (() => void) | undefined {
    if (!this.hasRoom(userId)) return undefined
    this.#count(userId, 1)
    let isLeft = false
    return () => {
      if (!isLeft) this.#count(userId, -1)
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
      if (this.hasRoom(userId) && (least === undefined || this.#slotsOf(userId) < this.#slotsOf(least))) least = userId
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

  #slotsOf(userId: string): number {
    return this.#slotsByUser.get(userId) ?? 0
  }

  #count(userId: string, more: number): void {
    this.#taken += more
    const slots = this.#slotsOf(userId) + more
    if (slots > 0) this.#slotsByUser.set(userId, slots)
    else this.#slotsByUser.delete(userId)
  }
}

/** Fair share: one user may hold up to 2 × the free slots (at most 2/3 of all). Used for runs and sandboxes. */
export const hasFairShare = (used: number, free: number): boolean => used < 2 * free
