/** Handshakes under way, by toolkit: who removes one does not wait for a server that may never answer. */
import type { Context } from '@opentelemetry/api'
import { HostError } from '../errors.ts'
import type { TraceMeta } from '../telemetry/trace-context.ts'

export interface Opening {
  connectMs: number
  trace: Context | undefined
}

export interface Asked extends Pick<Opening, 'connectMs'> {
  userId: string
  meta: TraceMeta | undefined
  signal: AbortSignal
}

export class Openings {
  readonly #underWay = new Map<AbortController, string>()

  async during<T>(toolkit: string, open: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    this.#underWay.set(controller, toolkit)
    try {
      return await open(controller.signal)
    } finally {
      this.#underWay.delete(controller)
    }
  }

  giveUp(toolkit: string): void {
    for (const [controller, of] of this.#underWay) if (of === toolkit) controller.abort()
  }
}

/** A handshake with its limits: so long, and no longer than it is wanted. */
export async function within(work: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let giveUp: (() => void) | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new HostError('server-timeout', { detail: `The server did not answer within ${ms} ms.` })),
      ms,
    )
    giveUp = () => reject(new HostError('cancelled', { detail: 'The toolkit was removed while it connected.' }))
    if (signal?.aborted) giveUp()
    else signal?.addEventListener('abort', giveUp, { once: true })
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    if (giveUp) signal?.removeEventListener('abort', giveUp)
    // Whatever comes of it later is nobody's any more.
    work.catch(() => {})
  }
}
