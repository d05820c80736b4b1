import type { CallOptions } from '../connection.ts'

const EVERY_MS = 100

type Tell = NonNullable<CallOptions['onProgress']>

/** Progress at most ten times a second; the last word is never lost. */
export function throttleProgress(tell: Tell): { tell: Tell; end(): void } {
  let last = Number.NEGATIVE_INFINITY
  let waiting: Parameters<Tell>[0] | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    if (waiting === undefined) return
    const progress = waiting
    waiting = undefined
    last = performance.now()
    tell(progress)
  }
  return {
    tell(progress) {
      waiting = progress
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
export function throttle(tell: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  const now = () => {
    timer = undefined
    last = performance.now()
    tell()
  }
  return () => {
    if (timer !== undefined) return
    const due = last + STORM_MS - performance.now()
    if (due <= 0) now()
    else {
      timer = setTimeout(now, due)
      timer.unref?.()
    }
  }
}
