/**
 * Sandboxes that are warm before a program comes. One program at a time is in a sandbox. A clean one is kept when it says
 * that it is ready again; one that broke a limit, does not answer or is not kept by its kind is ended and replaced.
 */
import { HostError } from '../errors.ts'
import type { Box } from './sandbox-box.ts'

export interface PoolOptions {
  /** Opens one that is ready. */
  open(): Promise<Box>
  /** How many wait for a program. */
  spares: number
  /** How many there are at most, at work or not. */
  most: number
  /** Whether one may take another program after its first. */
  reuse: boolean
}

const READY_MS = 250

type Waiter = (box: Box | Promise<Box>) => void

export class SandboxPool {
  readonly #options: PoolOptions
  readonly #idle: Box[] = []
  readonly #all = new Set<Box>()
  readonly #queue: Waiter[] = []
  #opening = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#serve()
  }

  async take(signal?: AbortSignal): Promise<Box> {
    if (this.#closed) throw new HostError('shutting-down')
    const box = this.#idle.pop() ?? (await this.#wait(signal))
    box.hold(true)
    this.#serve()
    return box
  }

  /** Takes one back; whether it is kept shows when it is ready. */
  give(box: Box, clean: boolean): void {
    if (!clean || !this.#options.reuse || this.#closed) this.#discard(box)
    else this.#whenReady(box)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const next of this.#queue.splice(0)) next(Promise.reject(new HostError('shutting-down')))
    await Promise.all([...this.#all].map((box) => box.end()))
    this.#all.clear()
    this.#idle.length = 0
  }

  #whenReady(box: Box): void {
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

  #rest(box: Box): void {
    box.listen({ message() {}, lost: () => this.#discard(box) })
    box.hold(false)
    const next = this.#queue.shift()
    if (next) next(box)
    else if (this.#closed || this.#idle.length >= this.#options.spares) this.#discard(box)
    else this.#idle.push(box)
  }

  #discard(box: Box): void {
    this.#all.delete(box)
    const at = this.#idle.indexOf(box)
    if (at >= 0) this.#idle.splice(at, 1)
    void box.end()
    this.#serve()
  }

  /** Opens for those who wait, and fills up the spares, as far as there is room. */
  #serve(): void {
    const { spares, most } = this.#options
    while (!this.#closed && this.#all.size + this.#opening < most) {
      const next = this.#queue.shift()
      if (!next && this.#idle.length + this.#opening >= spares) return
      const opened = this.#open()
      if (next) next(opened)
      else opened.then((box) => this.#rest(box)).catch(() => {})
    }
  }

  async #open(): Promise<Box> {
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

  #wait(signal: AbortSignal | undefined): Promise<Box> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#queue.indexOf(enter)
        if (at >= 0) this.#queue.splice(at, 1)
        reject(signal?.reason)
      }
      const enter: Waiter = (box) => {
        signal?.removeEventListener('abort', leave)
        resolve(box)
      }
      signal?.addEventListener('abort', leave)
      this.#queue.push(enter)
      this.#serve()
    })
  }
}
