/**
 * Hears of lists that change. In the first era a server says so by itself; in 2026-07-28 it tells only who listens
 * (`subscriptions/listen`), and nobody waits for that: a server that does not take listeners is used all the same. A stream
 * that ends is opened again, less and less often, and what may have been missed meanwhile is looked at.
 */
import { type Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import type { ConnectionHooks, ListKind } from '../connection.ts'
import { asHostError } from '../errors.ts'
import { throttle } from './throttle.ts'

const KINDS = ['tools', 'resources', 'prompts'] as const satisfies readonly ListKind[]
type ChangingKind = (typeof KINDS)[number]
const ACK_MS = 15_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 30_000
/** A stream that held for this long was a good one. */
const GOOD_MS = 30_000
const MAX_FAILURES = 8
/** What may be otherwise the next time; any other refusal is the server's word. */
const TRANSIENT_CODES = new Set(['session-lost', 'server-unreachable', 'server-timeout', 'rate-limited'])

export class ListChanges {
  readonly #client: Client
  readonly #notify: Record<ChangingKind, () => void>
  #stopped = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(client: Client, hooks: Pick<ConnectionHooks, 'onListChanged'>) {
    const createNotifier = (kind: ChangingKind) => throttle(() => void (this.#stopped || hooks.onListChanged(kind)))
    this.#client = client
    this.#notify = {
      tools: createNotifier('tools'),
      resources: createNotifier('resources'),
      prompts: createNotifier('prompts'),
    }
    for (const kind of KINDS) client.setNotificationHandler(`notifications/${kind}/list_changed`, this.#notify[kind])
  }

  /** Begins to listen, where that is needed and the server says that its lists change. */
  start(): void {
    const offered = this.#client.getServerCapabilities()
    const kinds = KINDS.filter((kind) => offered?.[kind]?.listChanged === true)
    if (this.#client.getProtocolEra() === 'modern' && kinds.length > 0) void this.#keepListening(kinds)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #keepListening(kinds: readonly ChangingKind[]): Promise<void> {
    let failures = 0
    for (let attempt = 0; !this.#stopped && failures < MAX_FAILURES; attempt++) {
      const wait = Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS)
      if (attempt > 0) await this.#sleep(wait)
      const startedAt = performance.now()
      if (!(await this.#listen(kinds, attempt > 0))) return
      failures = performance.now() - startedAt > GOOD_MS ? 0 : failures + 1
    }
  }

  /** Until the stream is over. Whether another is worth a try. */
  async #listen(kinds: readonly ChangingKind[], isReconnect: boolean): Promise<boolean> {
    const filter = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]))
    try {
      const { closed } = await this.#client.listen(filter, { timeout: ACK_MS })
      if (isReconnect) for (const kind of kinds) this.#notify[kind]()
      await closed
      return this.#client.transport !== undefined
    } catch (error) {
      return !isClosed(error) && TRANSIENT_CODES.has(asHostError(error).code)
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, ms)
      // Nobody stays alive for this.
      this.#timer.unref?.()
    })
  }
}

/** The server answered before it listened, or there is no connection any more. */
const isClosed = (error: unknown) =>
  error instanceof SdkError &&
  (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
