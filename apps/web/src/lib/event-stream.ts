/**
 * One event stream for all tabs of a browser, which allows six connections per server. The tab with the Web Lock reads
 * the stream and broadcasts it; when it closes, another tab takes over. Without Web Locks (insecure origin) every tab
 * has its own stream.
 */
import { BASE_PATH } from './base-path.ts'

export type StreamEvent =
  | { what: 'event'; type: string; data: string }
  /** `gap`: earlier events may be lost. */
  | { what: 'ready'; gap: boolean }
  /** `refused`: the browser does not reconnect, and the session may have ended. */
  | { what: 'away'; refused: boolean }

const NAME = 'loadout-events'

/** Retry delay, because browsers do not reconnect after a response that is no stream. */
const AGAIN_MS = 3_000

export function openStream(types: readonly string[], tell: (event: StreamEvent) => void): () => void {
  const { locks } = navigator as { locks?: LockManager }
  if (!locks) return readStream({ types, tell })
  const channel = new BroadcastChannel(NAME)
  const ending = new AbortController()
  let leads: Lead | undefined
  channel.onmessage = ({ data }: MessageEvent<StreamEvent | { what: 'hello' }>) => {
    if (data.what !== 'hello') tell(data)
    else if (leads?.last) channel.postMessage(leads.last)
  }
  void locks
    .request(NAME, { ifAvailable: true }, async (lock) => {
      if (lock) await lead()
      return lock !== null
    })
    .then((led) => {
      if (led || ending.signal.aborted) return
      channel.postMessage({ what: 'hello' })
      return locks.request(NAME, { signal: ending.signal }, lead)
    })
    .catch(() => {})

  function lead(): Promise<void> {
    return new Promise((resolve) => {
      if (ending.signal.aborted) return resolve()
      const own: Lead = { last: undefined }
      leads = own
      const close = readStream({
        types,
        tell(event) {
          if (event.what !== 'event') own.last = event.what === 'ready' ? { ...event, gap: false } : event
          channel.postMessage(event)
          tell(event)
        },
      })
      ending.signal.addEventListener('abort', () => {
        close()
        resolve()
      })
    })
  }

  return () => {
    ending.abort()
    channel.close()
  }
}

interface Lead {
  /** Last state, for tabs that open later. */
  last: StreamEvent | undefined
}

interface Reading {
  types: readonly string[]
  tell: (event: StreamEvent) => void
}

function readStream({ types, tell }: Reading): () => void {
  // Data that was read before the stream opened may be outdated, and events may be lost between two leading tabs.
  let gap = true
  let again: number | undefined
  let source = open()

  function open(): EventSource {
    const opened = new EventSource(`${BASE_PATH}/api/events`)
    opened.addEventListener('ready', () => {
      tell({ what: 'ready', gap })
      gap = false
    })
    for (const type of types)
      opened.addEventListener(type, ({ data }: MessageEvent<string>) => tell({ what: 'event', type, data }))
    opened.addEventListener('error', () => {
      gap = true
      const refused = opened.readyState === EventSource.CLOSED
      tell({ what: 'away', refused })
      if (refused)
        again = window.setTimeout(() => {
          source = open()
        }, AGAIN_MS)
    })
    return opened
  }

  return () => {
    window.clearTimeout(again)
    source.close()
  }
}
