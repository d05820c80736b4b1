/** Running handshakes by toolkit and user, so that removal and cancellation do not wait for a silent server. */

import type { Context } from '@opentelemetry/api'
import { HostError } from '../../errors.ts'
import type { TraceMeta } from '../../telemetry/trace-context.ts'
import { onAbort } from '../../util/abort.ts'
import type { ConnectionTarget } from '../connection.ts'

/** Start timeouts, and the setting they come from. */
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

  /** Cancels the starts of all users, because the toolkit was removed. */
  cancelToolkit(toolkit: string): void {
    void this.#abort((key) => key.toolkit === toolkit, cancelled('The toolkit was removed while it connected.'))
  }

  /** Cancels all starts: a closing host does not wait for silent servers. */
  async close(): Promise<void> {
    await this.#abort(() => true, new HostError('shutting-down'))
  }

  /** Cancels one user's start. Resolves when it has ended, with whether a start was running. */
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

/** Milliseconds without output after which a command counts as stuck. */
const QUIET_MS = 30_000

export interface StartClock extends StartLimits {
  signal?: AbortSignal | undefined
  /** Time of the command's last output, by `performance.now()`. */
  lastOutputAt?: (() => number | undefined) | undefined
}

/** Limits a handshake to `connectMs`, or to `maxMs` while the command makes progress, and aborts it with `signal`. */
export async function withStartLimits<T>(work: Promise<T>, clock: StartClock): Promise<T> {
  const { signal } = clock
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopListening: (() => void) | undefined
  const deadline = new Promise<never>((_, reject) => {
    const startedAt = performance.now()
    const check = () => {
      const moreMs = remainingMs(clock, startedAt)
      if (moreMs > 0) timer = setTimeout(check, moreMs)
      else reject(timeoutError(clock, performance.now() - startedAt))
    }
    timer = setTimeout(check, clock.connectMs)
    stopListening = onAbort(signal, () =>
      reject(HostError.is(signal?.reason) ? signal.reason : new HostError('cancelled')),
    )
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
    stopListening?.()
    // The caller no longer waits, so a late rejection must not be unhandled.
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
