/** Handshakes under way, by toolkit and user: whoever removes or cancels one does not wait for a server that may never answer. */
import type { Context } from '@opentelemetry/api'
import { HostError } from '../../errors.ts'
import type { TraceMeta } from '../../telemetry/trace-context.ts'
import type { ConnectionTarget } from '../connection.ts'

/** How long a start may take, and the setting that says so. */
export type StartLimits = Pick<ConnectionTarget, 'connectMs' | 'maxMs' | 'setting'>

export interface Opening {
  limits: StartLimits
  trace: Context | undefined
}

export interface OpenRequest extends Pick<Opening, 'limits'> {
  userId: string
  meta: TraceMeta | undefined
  signal: AbortSignal
}

export interface OpeningKey {
  toolkit: string
  userId: string | null
}

export class PendingHandshakes {
  readonly #pending = new Map<AbortController, OpeningKey & { settled: Promise<unknown> }>()

  async track<T>(key: OpeningKey, open: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const opening = open(controller.signal)
    this.#pending.set(controller, { ...key, settled: opening.catch(() => {}) })
    try {
      return await opening
    } finally {
      this.#pending.delete(controller)
    }
  }

  /** For all users, because the toolkit is gone. */
  cancelToolkit(toolkit: string): void {
    void this.#abort((key) => key.toolkit === toolkit, cancelled('The toolkit was removed while it connected.'))
  }

  /** All of them: a host that closes waits for no server that has yet to answer. */
  async close(): Promise<void> {
    await this.#abort(() => true, new HostError('shutting-down'))
  }

  /** For one of them, on request. Resolves when it is over, with whether anything was under way. */
  cancel({ toolkit, userId }: OpeningKey): Promise<boolean> {
    return this.#abort((key) => key.toolkit === toolkit && key.userId === userId, cancelled('The start was cancelled.'))
  }

  async #abort(matches: (key: OpeningKey) => boolean, reason: HostError): Promise<boolean> {
    const targets = [...this.#pending].filter(([, key]) => matches(key))
    for (const [controller] of targets) controller.abort(reason)
    await Promise.all(targets.map(([, { settled }]) => settled))
    return targets.length > 0
  }
}

const cancelled = (detail: string) =>
  new HostError('cancelled', { detail, action: 'Refresh the server to start it again.' })

/** A command that printed nothing for this long makes no progress. */
const QUIET_MS = 30_000

export interface StartClock extends StartLimits {
  signal?: AbortSignal | undefined
  /** When the command last printed something, by `performance.now()`. */
  lastOutputAt?: (() => number | undefined) | undefined
}

/** A handshake with its limits: so long, longer while the command makes progress, and no longer than it is wanted. */
export async function withStartLimits<T>(work: Promise<T>, clock: StartClock): Promise<T> {
  const { signal } = clock
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  const deadline = new Promise<never>((_, reject) => {
    const startedAt = performance.now()
    const check = () => {
      const moreMs = remainingMs(clock, startedAt)
      if (moreMs > 0) timer = setTimeout(check, moreMs)
      else reject(timeoutError(clock, performance.now() - startedAt))
    }
    timer = setTimeout(check, clock.connectMs)
    onAbort = () => reject(HostError.is(signal?.reason) ? signal.reason : new HostError('cancelled'))
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
    if (onAbort) signal?.removeEventListener('abort', onAbort)
    // Whatever comes of it later is nobody's any more.
    work.catch(() => {})
  }
}

function remainingMs({ connectMs, maxMs = connectMs, lastOutputAt }: StartClock, startedAt: number): number {
  const now = performance.now()
  const printedAt = lastOutputAt?.()
  if (printedAt === undefined) return 0
  return Math.min(printedAt + Math.min(QUIET_MS, connectMs) - now, startedAt + maxMs - now)
}

function timeoutError({ connectMs, setting = 'timeouts.connectMs' }: StartClock, tookMs: number): HostError {
  const seconds = Math.max(connectMs, Math.floor(tookMs / 1000) * 1000) / 1000
  return new HostError('server-timeout', {
    detail: `The server did not answer within ${seconds} s.`,
    action: `Check what the server printed, or raise \`${setting}\`.`,
  })
}
