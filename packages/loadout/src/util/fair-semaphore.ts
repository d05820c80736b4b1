/**
 * Semaphore with a count for all and per key; the rules of its user say when a slot is free. A released slot goes to
 * the waiter with the highest priority, in arrival order, before any later request.
 */
import { onAbort } from './abort.ts'

export interface SlotRequest {
  /** Ends the wait; `acquire` rejects with its reason. */
  signal?: AbortSignal | undefined
}

export interface SlotRules<R extends SlotRequest> {
  /** Key that the slot counts for; undefined counts only in total. */
  keyOf(request: R): string | undefined
  /** Whether a request may take a slot. `used` counts its key. */
  isFree(request: R, counts: { total: number; used: number }): boolean
  /** Higher goes first. @default 0 for all */
  priority?(request: R): number
}

export class FairSemaphore<R extends SlotRequest> {
  readonly #rules: SlotRules<R>
  readonly #usedByKey = new Map<string, number>()
  readonly #waiting = new Map<R, () => void>()
  #total = 0

  constructor(rules: SlotRules<R>) {
    this.#rules = rules
  }

  used(key: string): number {
    return this.#usedByKey.get(key) ?? 0
  }

  /** Waiting requests in arrival order. */
  waiting(): readonly R[] {
    return [...this.#waiting.keys()]
  }

  isFree(request: R): boolean {
    const key = this.#rules.keyOf(request)
    return this.#rules.isFree(request, { total: this.#total, used: key === undefined ? 0 : this.used(key) })
  }

  tryAcquire(request: R): boolean {
    if (!this.isFree(request)) return false
    this.#count(request, 1)
    return true
  }

  /** Each acquired request is released once, with the same key. */
  async acquire(request: R): Promise<void> {
    if (this.tryAcquire(request)) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A copy, because one request object may wait twice.
    const waiter = { ...request }
    this.#waiting.set(waiter, resolve)
    const stopListening = onAbort(request.signal, () => {
      this.#waiting.delete(waiter)
      reject(request.signal?.reason)
    })
    try {
      await promise
    } finally {
      stopListening()
    }
  }

  release(request: R): void {
    this.#count(request, -1)
    for (let next = this.#next(); next; next = this.#next()) {
      const grant = this.#waiting.get(next)
      this.#waiting.delete(next)
      // Counted before the waiter continues, so that no other request takes the slot in between.
      this.#count(next, 1)
      grant?.()
    }
  }

  #next(): R | undefined {
    let best: R | undefined
    let highest = Number.NEGATIVE_INFINITY
    for (const request of this.#waiting.keys()) {
      const priority = this.#rules.priority?.(request) ?? 0
      if (priority <= highest || !this.isFree(request)) continue
      best = request
      highest = priority
    }
    return best
  }

  #count(request: R, more: number): void {
    this.#total += more
    const key = this.#rules.keyOf(request)
    if (key === undefined) return
    const used = this.used(key) + more
    if (used > 0) this.#usedByKey.set(key, used)
    else this.#usedByKey.delete(key)
  }
}

/** Fair share: one key may hold up to 2 × the free slots (at most 2/3 of all). */
export const hasFairShare = (used: number, free: number): boolean => used < 2 * free
