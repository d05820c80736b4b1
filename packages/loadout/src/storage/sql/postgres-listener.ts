/**
 * Listens for notifications on one connection. A failed first connect is thrown and not retried; after that a lost
 * connection is replaced with backoff until `stop`.
 */
import pg from 'pg'

export interface NotificationHandler {
  onPayload(payload: string): void
  onStatus(live: boolean): void
}

export interface ListenerOptions {
  /** Milliseconds between heartbeats of the connection. @default 15_000 */
  heartbeatMs?: number
  /** Heartbeat timeout in milliseconds. @default 5_000 */
  answerMs?: number
}

const RELISTEN_FIRST_MS = 200
const MAX_RELISTEN_MS = 10_000

export function createListener(
  config: pg.ClientConfig,
  { heartbeatMs = 15_000, answerMs = 5_000 }: ListenerOptions = {},
) {
  let client: pg.Client | undefined
  let retrying: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  async function start(handler: NotificationHandler): Promise<void> {
    const next = new pg.Client({ ...config, query_timeout: answerMs })
    // Without a handler a broken connection would end the process.
    next.on('error', () => {})
    next.on('notification', ({ payload }) => payload && handler.onPayload(payload))
    try {
      await next.connect()
      await next.query('listen loadout_changes')
    } catch (error) {
      void next.end().catch(() => {})
      throw error
    }
    if (stopped) return next.end()
    client = next
    handler.onStatus(true)
    onLoss(next, () => {
      if (stopped) return
      handler.onStatus(false)
      retry(handler, RELISTEN_FIRST_MS)
    })
  }

  // A half-open connection reports nothing, so heartbeats detect it; `lost` is called once either way.
  function onLoss(current: pg.Client, lost: () => void): void {
    const heartbeat = setInterval(() => current.query('select 1').catch(end), heartbeatMs)
    function end() {
      if (client !== current) return
      client = undefined
      clearInterval(heartbeat)
      void current.end().catch(() => {})
      lost()
    }
    current.on('end', () => {
      clearInterval(heartbeat)
      end()
    })
  }

  function retry(handler: NotificationHandler, delay: number): void {
    retrying = setTimeout(() => {
      start(handler).catch(() => {
        if (!stopped) retry(handler, Math.min(delay * 2, MAX_RELISTEN_MS))
      })
    }, delay)
  }

  return {
    start,
    async stop() {
      stopped = true
      clearTimeout(retrying)
      await client?.end().catch(() => {})
    },
  }
}
