/**
 * Semaphore for sandboxes with nested programs. Guarantees:
 *
 * - A nested program never waits for slots of its callers: each depth has one slot more, so the deepest program can
 *   always continue.
 * - One owner gets a fair share (`runs/run-slots.ts`); waiters of one depth are served in order.
 */
import { hasFairShare } from '../../runs/run-slots.ts'

export interface SandboxWaiter {
  /** Owner; without one there is no share limit. */
  owner?: string | undefined
  /** Number of programs that wait for this one, directly or indirectly. @default 0 */
  depth?: number | undefined
  signal?: AbortSignal | undefined
}

interface Waiter extends SandboxWaiter {
  go(): void
}

/** Max depth: a program and the custom tools that call each other below it (`custom/run-custom.ts`). */
export const DEEPEST = 4

export class SandboxSemaphore {
  readonly #capacity: number
  readonly #slotsByOwner = new Map<string, number>()
  #waiting: Waiter[] = []
  #taken = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Rejects with the abort reason. */
  async acquire(request: SandboxWaiter): Promise<void> {
    if (this.#mayAcquire(request)) return this.#take(request)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { ...request, go: resolve }
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter)
      reject(request.signal?.reason)
    }
    this.#waiting.push(waiter)
    request.signal?.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      request.signal?.removeEventListener('abort', leave)
    }
  }

  release({ owner, depth = 0 }: SandboxWaiter): void {
    this.#taken--
    if (owner !== undefined && depth === 0) this.#addSlots(owner, -1)
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#take(next)
      next.go()
    }
  }

  /** Deepest first, because the others wait for it. */
  #next(): Waiter | undefined {
    const ready = this.#waiting.filter((waiter) => this.#mayAcquire(waiter))
    const deepest = Math.max(...ready.map(({ depth = 0 }) => depth))
    return ready.find(({ depth = 0 }) => depth === deepest)
  }

  #mayAcquire({ owner, depth = 0 }: SandboxWaiter): boolean {
    if (this.#taken >= this.#capacity + Math.min(depth, DEEPEST)) return false
    // A nested program belongs to its caller's share.
    if (owner === undefined || depth > 0) return true
    return hasFairShare(this.#slotsByOwner.get(owner) ?? 0, this.#capacity - this.#taken)
  }

  #take({ owner, depth = 0 }: SandboxWaiter): void {
    this.#taken++
    if (owner !== undefined && depth === 0) this.#addSlots(owner, 1)
  }

  #addSlots(owner: string, more: number): void {
    const slots = (this.#slotsByOwner.get(owner) ?? 0) + more
    if (slots > 0) this.#slotsByOwner.set(owner, slots)
    else this.#slotsByOwner.delete(owner)
  }
}
