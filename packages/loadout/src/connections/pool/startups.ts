/**
 * Progress of starting servers: phase and last output line. Listeners are notified of a phase at once and of a line at
 * most every 300 ms, because installers print thousands of lines.
 */
import { redact } from '../../toolkits/secrets/redact.ts'
import type { StartProgress } from '../connection.ts'
import { sanitizeText } from '../errors.ts'

const LINE_EVERY_MS = 300
const MAX_LINE_LENGTH = 200

export class Startups {
  readonly #progress = new Map<string, StartProgress>()
  readonly #listing = new Map<string, number>()
  /** Connections with a complete first list; a later refresh is no start. */
  readonly #listed = new Set<string>()
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>()
  readonly #notify: (id: string) => void

  constructor(notify: (id: string) => void) {
    this.#notify = notify
  }

  /** Progress of an opening connection. */
  get(id: string): StartProgress | undefined {
    return this.#progress.get(id)
  }

  isListing(id: string): boolean {
    return this.#listing.has(id) && !this.#listed.has(id)
  }

  /** After a close, the next list is a first list again. */
  closed(id: string): void {
    this.#listed.delete(id)
  }

  update(id: string, { phase, lastLine }: StartProgress, secrets: readonly string[]): void {
    const previous = this.#progress.get(id)
    const line = lastLine === undefined ? previous?.lastLine : sanitizeLine(lastLine, secrets)
    this.#progress.set(id, { phase, ...(line === undefined ? {} : { lastLine: line }) })
    if (previous?.phase !== phase) this.#flush(id)
    else if (previous.lastLine !== line && !this.#timers.has(id)) {
      const timer = setTimeout(() => this.#flush(id), LINE_EVERY_MS)
      timer.unref?.()
      this.#timers.set(id, timer)
    }
  }

  /** The connection opened or failed. */
  finish(id: string): void {
    this.#progress.delete(id)
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  /** The server counts as starting until its first list is complete. */
  async whileListing<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#listing.set(id, (this.#listing.get(id) ?? 0) + 1)
    try {
      const result = await work()
      this.#listed.add(id)
      return result
    } finally {
      const remaining = (this.#listing.get(id) ?? 1) - 1
      if (remaining > 0) this.#listing.set(id, remaining)
      else this.#listing.delete(id)
      this.#notify(id)
    }
  }

  #flush(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    this.#notify(id)
  }
}

const sanitizeLine = (line: string, secrets: readonly string[]) =>
  sanitizeText(redact(line, secrets)).trim().slice(0, MAX_LINE_LENGTH)
