/** What a program computes: the time of its thread where there is a clock of it, else the time between begin and end. */
export interface Meter {
  begin(): void
  end(): void
  spentMs(): number
  /** Cheap: the clocks are asked only when it may be so. */
  over(): boolean
}

export function createMeter(limitMs: number, threadMs: (() => number) | undefined): Meter {
  const clock = threadMs ?? (() => performance.now())
  let [before, from, running, nextLook] = [0, 0, false, 0]
  const spentMs = () => before + (running ? clock() - from : 0)
  return {
    begin() {
      from = clock()
      running = true
      nextLook = performance.now() + (limitMs - before)
    },
    end() {
      before = spentMs()
      running = false
    },
    spentMs,
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
