/**
 * How many runs a process works on at once, and whose. One user has a share (`shares.ts`); what finds no place waits here, and
 * what is free goes first to who has least.
 */

import type { RunRow } from '../schema/records/run.ts'

type RunId = Pick<RunRow, 'userId' | 'runId'>

/** More is found again by looking for it. */
const MAX_WAITING = 10_000

export class RunSlots {
  readonly #capacity: number
  readonly #slotsByUser = new Map<string, number>()
  /** By user, in the order in which they came. */
  readonly #waiting = new Map<string, Set<string>>()
  #taken = 0
  #waits = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  hasRoom(userId: string): boolean {
    return hasFairShare(this.#slotsByUser.get(userId) ?? 0, this.#capacity - this.#taken)
  }

  /** How to leave it again; undefined where there is none. */
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

  /** Of those that wait, one that has a place now. It waits no more: whoever takes it up takes the place. */
  next(): RunId | undefined {
    let least: string | undefined
    for (const userId of this.#waiting.keys())
      if (this.hasRoom(userId) && (least === undefined || this.#slotsOf(userId) < this.#slotsOf(least))) least = userId
    if (least === undefined) return undefined
    const runs = this.#waiting.get(least) as Set<string>
    const [runId = ''] = runs
    runs.delete(runId)
    this.#waits--
    // Behind the others, where as many of theirs are worked on.
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

/**
 * Who shares places with others has at most twice as many as are left: alone two thirds of them, and whoever comes next
 * finds room at once. Pure, and the law of runs and of sandboxes.
 */
export const hasFairShare = (used: number, free: number): boolean => used < 2 * free
