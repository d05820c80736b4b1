/**
 * Background refreshes with limited concurrency: 80 stale servers must not start 80 processes at once. A toolkit is
 * queued once, however many readers find it stale; an explicit refresh replaces the queued one.
 */
interface Queued {
  work: () => Promise<unknown>
  promise: Promise<boolean>
  resolve: (succeeded: boolean) => void
}

export class RefreshQueue {
  readonly #atOnce: number
  /** In insertion order. */
  readonly #waiting = new Map<string, Queued>()
  #running = 0

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** Resolves when the work is over, to whether it succeeded. Never rejects: the work reports its own failure. */
  add(key: string, work: () => Promise<unknown>): Promise<boolean> {
    const existing = this.#waiting.get(key)
    if (existing) return existing.promise
    const queued: Queued = { work, ...Promise.withResolvers<boolean>() }
    this.#waiting.set(key, queued)
    this.#next()
    return queued.promise
  }

  /** Replaces a queued refresh by running work. */
  replace(key: string, work: Promise<unknown>): void {
    const queued = this.#waiting.get(key)
    this.#waiting.delete(key)
    if (queued) void succeeds(work).then(queued.resolve)
  }

  #next(): void {
    for (const [key, { work, resolve }] of this.#waiting) {
      if (this.#running >= this.#atOnce) return
      this.#waiting.delete(key)
      this.#running++
      void succeeds(work()).then((succeeded) => {
        this.#running--
        resolve(succeeded)
        this.#next()
      })
    }
  }
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )
