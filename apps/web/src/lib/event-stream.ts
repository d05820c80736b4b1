/**
 * One stream of events for all tabs of a browser: it allows six connections to a server over all of them, and a stream keeps one for
 * as long as its tab is open. The tab that holds the lock has the stream and tells the others; when it goes, the next one takes over.
 * Where there are no locks (a page that is not from https or this machine) every tab has its own.
 */
export type StreamEvent =
  | { what: 'event'; type: string; data: string }
  /** What came before may have been missed, with a gap. */
  | { what: 'ready'; gap: boolean }
  /** Refused: nothing comes back by itself, and it may be that the session has ended. */
  | { what: 'away'; refused: boolean }

const NAME = 'loadout-events'

/** Browsers do not come back by themselves from an answer that is no stream, such as a session that has ended. */
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
  /** How it stands, for tabs that come later. */
  last: StreamEvent | undefined
}

interface Reading {
  types: readonly string[]
  tell: (event: StreamEvent) => void
}

function readStream({ types, tell }: Reading): () => void {
  // What was read before the stream is there may be old already; and between one that leads and the next something may happen.
  let gap = true
  let again: number | undefined
  let source = open()

  function open(): EventSource {
    const opened = new EventSource('/api/events')
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
