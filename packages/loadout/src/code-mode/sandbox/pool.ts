/**
 * Pool of prewarmed sandboxes, one program at a time each. The first program opens them, because a host that runs no
 * programs must not pay for threads. A clean sandbox is reused once it is ready again; one that broke a limit, does not
 * respond or cannot be reused is replaced.
 */

import { HostError } from '../../errors.ts'
import { onAbort } from '../../util/abort.ts'
import type { SandboxHandle } from './handle.ts'
import { DEEPEST, SandboxSemaphore, type SandboxWaiter } from './semaphore.ts'

export interface SandboxPoolOptions {
  /** Opens a ready sandbox. */
  open(): Promise<SandboxHandle>
  /** Number of idle sandboxes after the first program. */
  spares: number
  /** Max concurrent programs. Nested programs get slots beyond these. */
  most: number
  /** True if a sandbox can run several programs. */
  reuse: boolean
}

const READY_MS = 1_000

interface Waiter {
  resolve(box: SandboxHandle): void
  reject(why: unknown): void
}

export class SandboxPool {
  readonly #options: SandboxPoolOptions
  readonly #idle: SandboxHandle[] = []
  readonly #all = new Set<SandboxHandle>()
  readonly #queue: Waiter[] = []
  readonly #slots: SandboxSemaphore
  readonly #taken = new Map<SandboxHandle, SandboxWaiter>()
  #opening = 0
  #closed = false

  constructor(options: SandboxPoolOptions) {
    this.#options = options
    this.#slots = new SandboxSemaphore(options.most)
  }

  async take(request: SandboxWaiter = {}): Promise<SandboxHandle> {
    if (this.#closed) throw new HostError('shutting-down')
    await this.#slots.acquire(request)
    try {
      if (this.#closed) throw new HostError('shutting-down')
      const box = this.#idle.pop() ?? (await this.#wait(request.signal))
      box.hold(true)
      this.#taken.set(box, request)
      this.#serve()
      return box
    } catch (error) {
      this.#slots.release(request)
      throw error
    }
  }

  /** Returns a sandbox, which is reused if it becomes ready in time. */
  give(box: SandboxHandle, clean: boolean): void {
    const request = this.#taken.get(box)
    this.#taken.delete(box)
    if (!clean || !this.#options.reuse || this.#closed) this.#discard(box)
    else this.#whenReady(box)
    if (request) this.#slots.release(request)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#queue.splice(0)) reject(new HostError('shutting-down'))
    await Promise.all([...this.#all].map((box) => box.end()))
    this.#all.clear()
    this.#idle.length = 0
  }

  #whenReady(box: SandboxHandle): void {
    const timer = setTimeout(() => this.#discard(box), READY_MS)
    box.listen({
      message: ({ type }) => {
        if (type !== 'ready') return
        clearTimeout(timer)
        this.#rest(box)
      },
      lost: () => {
        clearTimeout(timer)
        this.#discard(box)
      },
    })
    box.send({ type: 'stop' })
  }

  #rest(box: SandboxHandle): void {
    box.listen({ message() {}, lost: () => this.#discard(box) })
    box.hold(false)
    const next = this.#queue.shift()
    if (next) next.resolve(box)
    else if (this.#closed || this.#idle.length >= this.#options.spares) this.#discard(box)
    else this.#idle.push(box)
  }

  #discard(box: SandboxHandle): void {
    // Ignore late messages, so that it does not return to the pool.
    box.listen({ message() {}, lost() {} })
    this.#all.delete(box)
    const at = this.#idle.indexOf(box)
    if (at >= 0) this.#idle.splice(at, 1)
    void box.end()
    this.#serve()
  }

  /** Opens sandboxes for waiting programs and spares, in arrival order. */
  #serve(): void {
    const { spares, most } = this.#options
    // Waiting programs already hold a slot; spares only fill free capacity.
    const isWanted = (wanted: number, room: number) =>
      this.#idle.length + this.#opening < wanted && this.#all.size + this.#opening < room
    const { length } = this.#queue
    while (!this.#closed && (isWanted(length, most + DEEPEST) || isWanted(length + spares, most)))
      this.#open().then(
        (box) => this.#rest(box),
        (error: unknown) => this.#queue.shift()?.reject(error),
      )
  }

  async #open(): Promise<SandboxHandle> {
    this.#opening++
    try {
      const box = await this.#options.open()
      if (this.#closed) {
        await box.end()
        throw new HostError('shutting-down')
      }
      this.#all.add(box)
      return box
    } finally {
      this.#opening--
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<SandboxHandle> {
    const { promise, resolve, reject } = Promise.withResolvers<SandboxHandle>()
    const waiter: Waiter = { resolve, reject }
    const leave = () => {
      const at = this.#queue.indexOf(waiter)
      if (at < 0) return
      this.#queue.splice(at, 1)
      reject(signal?.reason)
    }
    this.#queue.push(waiter)
    const stopListening = onAbort(signal, leave)
    this.#serve()
    return promise.finally(stopListening)
  }
}
