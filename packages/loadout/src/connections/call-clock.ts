/**
 * The time of one call: it ends after a while without progress, and after the total in any case. While a person is asked
 * something it stands still: nobody can be hurried by a server's timeout.
 */
export interface CallClock {
  readonly signal: AbortSignal
  /** Whether the time ran out. */
  readonly expired: boolean
  progress(): void
  pause(): void
  resume(): void
  stop(): void
}

export function startClock({ timeoutMs, totalMs }: { timeoutMs: number; totalMs: number }): CallClock {
  const controller = new AbortController()
  let sinceProgress = 0
  let total = 0
  let startedAt = performance.now()
  let pauses = 0
  let expired = false
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Adds what has passed since the clock last ran. */
  const count = () => {
    const now = performance.now()
    if (pauses === 0) {
      sinceProgress += now - startedAt
      total += now - startedAt
    }
    startedAt = now
  }
  const check = () => {
    count()
    if (sinceProgress < timeoutMs && total < totalMs) return run()
    expired = true
    controller.abort(new Error('The time ran out.'))
  }
  const run = () => {
    clearTimeout(timer)
    // A millisecond more, so that a timer that comes early is not followed by many short ones.
    if (pauses === 0) timer = setTimeout(check, Math.min(timeoutMs - sinceProgress, totalMs - total) + 1)
  }
  run()

  return {
    signal: controller.signal,
    get expired() {
      return expired
    },
    progress() {
      // The timer is left as it is: when it fires, it finds that there is time left.
      count()
      sinceProgress = 0
    },
    pause() {
      count()
      pauses++
      clearTimeout(timer)
    },
    resume() {
      count()
      pauses = Math.max(0, pauses - 1)
      if (!expired) run()
    },
    stop: () => clearTimeout(timer),
  }
}
