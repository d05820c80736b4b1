/**
 * Call timeouts: without progress, and in total. Clocks pause while a user is asked, because people do not answer
 * within a server's timeout.
 *
 * One timer serves all calls of a session. It stays armed when a call ends, because the next call usually ends later.
 */
export interface CallClock {
  readonly signal: AbortSignal
  /** Whether a timeout expired. */
  readonly expired: boolean
  /** The timeout that expires next, in milliseconds. */
  readonly nextMs: number
  progress(): void
  pause(): void
  resume(): void
  stop(): void
}

interface Limits {
  timeoutMs: number
  totalMs: number
  /** An abort ends the call like a timeout. */
  signal?: AbortSignal | undefined
}

const MAX_TIMER_MS = 2_147_483_647

export class CallClocks {
  readonly #running = new Set<Clock>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #firesAt = Number.POSITIVE_INFINITY

  start(limits: Limits): CallClock {
    const clock = new Clock(limits, this)
    this.#running.add(clock)
    this.watch(clock)
    return clock
  }

  /** Clocks of running calls. */
  running(): CallClock[] {
    return [...this.#running]
  }

  /** Ensures that the timer fires when this clock is due. */
  watch(clock: Clock): void {
    const dueAt = clock.dueAt()
    if (dueAt >= this.#firesAt) return
    clearTimeout(this.#timer)
    this.#firesAt = dueAt
    // One millisecond more, because an early timer would be followed by many short ones.
    const wait = Math.min(dueAt - performance.now() + 1, MAX_TIMER_MS)
    const timer = setTimeout(() => this.#check(), wait)
    // An awaited call keeps the process alive by itself.
    timer.unref?.()
    this.#timer = timer
  }

  remove(clock: Clock): void {
    this.#running.delete(clock)
  }

  #check(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    for (const clock of this.#running)
      if (clock.dueAt() > now) this.watch(clock)
      else clock.expire()
  }
}

class Clock implements CallClock {
  expired = false
  readonly #limits: Limits
  readonly #clocks: CallClocks
  readonly #controller = new AbortController()
  /** Both shift by the paused time. */
  #startedAt = performance.now()
  #progressAt = this.#startedAt
  #pausedAt = 0
  #pauses = 0

  // Linked by hand, because `AbortSignal.any` is several times slower.
  readonly #onAbort = () => this.#controller.abort(this.#limits.signal?.reason)

  constructor(limits: Limits, clocks: CallClocks) {
    this.#limits = limits
    this.#clocks = clocks
    if (limits.signal?.aborted) this.#onAbort()
    else limits.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  dueAt(): number {
    if (this.#pauses > 0) return Number.POSITIVE_INFINITY
    return Math.min(this.#progressAt + this.#limits.timeoutMs, this.#startedAt + this.#limits.totalMs)
  }

  get nextMs(): number {
    const { timeoutMs, totalMs } = this.#limits
    return this.#progressAt + timeoutMs < this.#startedAt + totalMs ? timeoutMs : totalMs
  }

  progress(): void {
    // The timer stays as it is; when it fires, it finds the time that remains.
    this.#progressAt = this.#pauses > 0 ? this.#pausedAt : performance.now()
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = performance.now()
  }

  resume(): void {
    if (this.#pauses === 0 || --this.#pauses > 0) return
    const pausedMs = performance.now() - this.#pausedAt
    this.#startedAt += pausedMs
    this.#progressAt += pausedMs
    if (!this.expired) this.#clocks.watch(this)
  }

  stop(): void {
    this.#clocks.remove(this)
    this.#limits.signal?.removeEventListener('abort', this.#onAbort)
  }

  expire(): void {
    this.stop()
    this.expired = true
    this.#controller.abort(new Error('The time ran out.'))
  }
}
