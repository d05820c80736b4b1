/**
 * Who may have a sandbox, of programs that wait for each other. What holds:
 *
 * - One that others wait for never waits for a place that they hold: each depth has a place more than the one above it. So
 *   of those that have one, the deepest can always go on, whatever they call.
 * - Of the places of all, one owner has a share (`runs/run-slots.ts`). Those who wait for it are served in their order.
 */
import { hasFairShare } from '../../runs/run-slots.ts'

export interface SandboxWaiter {
  /** Whose it is. Nobody's has no share to keep to. */
  owner?: string | undefined
  /** How many programs wait for it, one for the other. @default 0 */
  depth?: number | undefined
  signal?: AbortSignal | undefined
}

interface Waiter extends SandboxWaiter {
  go(): void
}

/** A program, and custom tools that call each other below it (`custom-code.ts`). */
export const DEEPEST = 4

export class SandboxSemaphore {
  readonly #capacity: number
  readonly #slotsByOwner = new Map<string, number>()
  #waiting: Waiter[] = []
  #taken = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Rejects with the reason of the signal. */
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

  /** The deepest first: the others wait for them. */
  #next(): Waiter | undefined {
    const ready = this.#waiting.filter((waiter) => this.#mayAcquire(waiter))
    const deepest = Math.max(...ready.map(({ depth = 0 }) => depth))
    return ready.find(({ depth = 0 }) => depth === deepest)
  }

  #mayAcquire({ owner, depth = 0 }: SandboxWaiter): boolean {
    if (this.#taken >= this.#capacity + Math.min(depth, DEEPEST)) return false
    // What others wait for is theirs already.
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
