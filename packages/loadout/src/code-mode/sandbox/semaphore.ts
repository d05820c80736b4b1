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
  readonly #most: number
  readonly #held = new Map<string, number>()
  #waiting: Waiter[] = []
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Rejects with the reason of the signal. */
  async enter(seeker: SandboxWaiter): Promise<void> {
    if (this.#mayEnter(seeker)) return this.#take(seeker)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { ...seeker, go: resolve }
    const leave = () => {
      this.#waiting = this.#waiting.filter((one) => one !== waiter)
      reject(seeker.signal?.reason)
    }
    this.#waiting.push(waiter)
    seeker.signal?.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      seeker.signal?.removeEventListener('abort', leave)
    }
  }

  leave({ owner, depth = 0 }: SandboxWaiter): void {
    this.#taken--
    if (owner !== undefined && depth === 0) this.#hold(owner, -1)
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#take(next)
      next.go()
    }
  }

  /** The deepest first: the others wait for them. */
  #next(): Waiter | undefined {
    const ready = this.#waiting.filter((waiter) => this.#mayEnter(waiter))
    const deepest = Math.max(...ready.map(({ depth = 0 }) => depth))
    return ready.find(({ depth = 0 }) => depth === deepest)
  }

  #mayEnter({ owner, depth = 0 }: SandboxWaiter): boolean {
    if (this.#taken >= this.#most + Math.min(depth, DEEPEST)) return false
    // What others wait for is theirs already.
    if (owner === undefined || depth > 0) return true
    return hasFairShare(this.#held.get(owner) ?? 0, this.#most - this.#taken)
  }

  #take({ owner, depth = 0 }: SandboxWaiter): void {
    this.#taken++
    if (owner !== undefined && depth === 0) this.#hold(owner, 1)
  }

  #hold(owner: string, more: number): void {
    const held = (this.#held.get(owner) ?? 0) + more
    if (held > 0) this.#held.set(owner, held)
    else this.#held.delete(owner)
  }
}
