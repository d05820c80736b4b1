/**
 * The time of calls: each ends after a while without progress, and after its total in any case. While a person is asked
 * something the clocks stand still: nobody can be hurried by a server's timeout.
 *
 * One timer serves all calls of a session. It stays armed when a call ends, because the next one mostly ends later anyway.
 */
export interface CallClock {
  readonly signal: AbortSignal
  /** Whether the time ran out. */
  readonly expired: boolean
  /** The time that would run out now: without progress, or in all. */
  readonly nextMs: number
  progress(): void
  pause(): void
  resume(): void
  stop(): void
}

interface Limits {
  timeoutMs: number
  totalMs: number
  /** Who gives up ends the call as the clock does. */
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

  /** Those of the calls under way. */
  running(): CallClock[] {
    return [...this.#running]
  }

  /** Makes sure of being there when its time is up. */
  watch(clock: Clock): void {
    const dueAt = clock.dueAt()
    if (dueAt >= this.#firesAt) return
    clearTimeout(this.#timer)
    this.#firesAt = dueAt
    // A millisecond more, so that a timer that comes early is not followed by many short ones.
    const wait = Math.min(dueAt - performance.now() + 1, MAX_TIMER_MS)
    const timer = setTimeout(() => this.#check(), wait)
    // A call that is awaited holds the process by itself.
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
  /** Both are moved on by the time that it stood still. */
  #startedAt = performance.now()
  #progressAt = this.#startedAt
  #pausedAt = 0
  #pauses = 0

  // Linked by hand: a signal made of two costs a call several times as much.
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
    // The timer is left as it is: when it fires, it finds that there is time left.
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
