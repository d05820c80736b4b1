/**
 * What a program computes. The time that passes while it runs is cheap to know and never less than what it computed; only
 * when that is over the limit is the clock of the thread asked, where there is one. So what others do on the same machine is
 * not counted, and a short turn costs no look at that clock.
 */
export interface Meter {
  begin(): void
  end(): void
  spentMs(): number
  /** What passed while it ran: never less than that. */
  passedMs(): number
  /** Cheap: the clocks are asked only when it may be so. */
  over(): boolean
}

export function createMeter(limitMs: number, threadMs: (() => number) | undefined): Meter {
  const threadBefore = threadMs?.() ?? 0
  let passed = 0
  let from = 0
  let running = false
  let nextLook = 0
  const passedMs = () => passed + (running ? performance.now() - from : 0)
  const spentMs = () => (threadMs ? Math.min(passedMs(), threadMs() - threadBefore) : passedMs())
  return {
    begin() {
      from = performance.now()
      running = true
      nextLook = Math.max(nextLook, from + limitMs - passed)
    },
    end() {
      passed = passedMs()
      running = false
    },
    spentMs,
    passedMs,
    over() {
      const now = performance.now()
      if (now < nextLook) return false
      const left = limitMs - spentMs()
      // No thread computes more than time passes, so it cannot be over before that.
      nextLook = now + left
      return left <= 0
    },
  }
}
