/**
 * Reports changed lists. In the older era servers notify by themselves; in 2026-07-28 the client subscribes
 * (`subscriptions/listen`). A server without subscriptions still works. An ended stream is reopened with backoff, and
 * then all kinds count as changed, because notifications may be missing.
 */
import { type Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import type { ConnectionHooks, ListKind } from '../connection.ts'
import { asHostError } from './sdk-errors.ts'
import { throttle } from './throttle.ts'

const KINDS = ['tools', 'resources', 'prompts'] as const satisfies readonly ListKind[]
type ChangingKind = (typeof KINDS)[number]
const ACK_MS = 15_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 30_000
/** A stream of at least this many milliseconds resets the backoff. */
const GOOD_MS = 30_000
const MAX_FAILURES = 8
/** Errors after which a retry may succeed; any other refusal is final. */
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

  /** Subscribes if the era needs it and the server's lists can change. */
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

  /** Listens until the stream ends. Returns whether to retry. */
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
      // `unref`ed, so it does not keep the process alive.
      this.#timer.unref?.()
    })
  }
}

/** The server responded without a subscription, or the connection is closed. */
const isClosed = (error: unknown) =>
  error instanceof SdkError &&
  (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
