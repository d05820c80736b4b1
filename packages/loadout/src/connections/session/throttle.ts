/** Throttles for progress (100 ms) and list changes (5 s). */
import type { ConnectionCallOptions } from '../connection.ts'

const EVERY_MS = 100

type ProgressListener = NonNullable<ConnectionCallOptions['onProgress']>

/** Reports progress at most every 100 ms; the last value is always reported. */
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

/** Leading and trailing throttle, 5 s. */
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
