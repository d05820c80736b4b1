import type { CallOptions } from '../connection.ts'

const EVERY_MS = 100

type ProgressListener = NonNullable<CallOptions['onProgress']>

/** Progress at most ten times a second; the last word is never lost. */
export function throttleProgress(report: ProgressListener): { report: ProgressListener; end(): void } {
  let last = Number.NEGATIVE_INFINITY
  let pending: Parameters<ProgressListener>[0] | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    if (pending === undefined) return
    const progress = pending
    pending = undefined
    last = performance.now()
    report(progress)
  }
  return {
    report(progress) {
      pending = progress
      const due = last + EVERY_MS - performance.now()
      if (due <= 0) flush()
      else timer ??= setTimeout(flush, due)
    },
    end() {
      clearTimeout(timer)
      flush()
    },
  }
}

const STORM_MS = 5000

/** At once, and then at most every five seconds, for as long as it storms; the last word is never lost. */
export function throttle(notify: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  const fire = () => {
    timer = undefined
    last = performance.now()
    notify()
  }
  return () => {
    if (timer !== undefined) return
    const due = last + STORM_MS - performance.now()
    if (due <= 0) fire()
    else {
      timer = setTimeout(fire, due)
      timer.unref?.()
    }
  }
}
