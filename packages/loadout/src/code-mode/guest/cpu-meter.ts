/**
 * CPU time of a program. Elapsed time while it runs is cheap and an upper bound; only when it exceeds the limit is the
 * thread's CPU clock read, if there is one. Other load on the machine is therefore not counted.
 */
export interface CpuMeter {
  begin(): void
  end(): void
  spentMs(): number
  /** Elapsed time while it ran; never less than `spentMs`. */
  passedMs(): number
  /** Cheap: reads the clocks only when the limit may be reached. */
  over(): boolean
}

export function createMeter(limitMs: number, threadMs: (() => number) | undefined): CpuMeter {
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
      // CPU time never exceeds elapsed time, so the limit cannot be reached earlier.
      nextLook = now + left
      return left <= 0
    },
  }
}
