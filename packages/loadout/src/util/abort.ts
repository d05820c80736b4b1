/** Waits that end early: by an abort signal or by a time limit. Timers keep no process alive unless stated. */

/** Waits `ms`, or less if the signal aborts. It never rejects. */
export function sleep(ms: number, { signal, keepAlive = false }: { signal?: AbortSignal; keepAlive?: boolean } = {}) {
  return new Promise<void>((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (!keepAlive) unref(timer)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Waits for `work` up to `ms`; undefined on timeout. A rejection after the timeout is ignored. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const finished = new AbortController()
  work.catch(() => {})
  try {
    return await Promise.race([work, sleep(ms, { signal: finished.signal, keepAlive: true }).then(() => undefined)])
  } finally {
    finished.abort()
  }
}

/** Runs `listener` when the signal aborts, also if it aborted before. Returns a function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {}
  if (signal.aborted) {
    listener()
    return () => {}
  }
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

/** A controller that aborts with the signal, for the same reason. `AbortSignal.any` costs several times as much. */
export function linkedController(signal: AbortSignal | undefined): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController()
  return { controller, unlink: onAbort(signal, () => controller.abort(signal?.reason)) }
}

/** A timer of a browser is a number and keeps nothing alive. */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}
