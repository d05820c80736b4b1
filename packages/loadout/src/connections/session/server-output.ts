/**
 * What servers say beside their answers: the latest of it, by connection, in this process. It stays after the connection ended,
 * until another opens or the toolkit goes; then only the end of it, so that many that idle cost little. Whoever reads it gets it
 * without secrets and without characters that a terminal or a model would obey.
 */

import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../../schema/json.ts'
import { redact } from '../../toolkits/secrets/redact.ts'
import type { CallOptions, Connection, LogLevel, ServerLogEntry } from '../connection.ts'
import { sanitizeOutput, sanitizeText } from '../errors.ts'

/** What it printed, which has no time of its own, or what it logged. */
export type OutputLine = { source: 'stderr'; text: string } | ({ source: 'log' } & ServerLogEntry)

export interface ServerOutput {
  /** Whether what said it is still connected. */
  running: boolean
  lines: OutputLine[]
}

const REMEMBERED = 1000
const MAX_AFTERWARDS = 100
const NOTHING: ServerOutput = { running: false, lines: [] }

interface Kept {
  /** As long as it is open. */
  connection: Connection | undefined
  /** What must not be repeated, as it is now. */
  secrets(): readonly string[]
  /** Without secrets already. */
  log: Pick<LogRing, 'all'>
  ended: OutputLine[]
}

export type Speaking = Pick<Kept, 'secrets' | 'log'> & { connection: Connection }

export class ServerOutputs {
  readonly #kept = new LRUCache<string, Kept>({ max: REMEMBERED })

  begin(id: string, speaking: Speaking): void {
    this.#kept.set(id, { ...speaking, ended: [] })
  }

  /** The connection is over, or another is on its way: what was said is kept, and nothing else of it. */
  end(id: string): void {
    const kept = this.#kept.get(id)
    if (!kept?.connection) return
    const ended = linesOf(kept).slice(-MAX_AFTERWARDS)
    this.#kept.set(id, { connection: undefined, secrets: NOTHING_MORE, log: { all: NOTHING_MORE }, ended })
  }

  of(id: string): ServerOutput {
    const kept = this.#kept.get(id)
    if (!kept) return NOTHING
    return kept.connection
      ? { running: kept.connection.isOpen(), lines: linesOf(kept) }
      : { running: false, lines: kept.ended }
  }

  forget(isGone: (id: string) => boolean): void {
    for (const id of [...this.#kept.keys()]) if (isGone(id)) this.#kept.delete(id)
  }
}

const NOTHING_MORE = () => []

function linesOf({ connection, secrets, log }: Kept): OutputLine[] {
  const printed = sanitizeOutput(redact(connection?.diagnostics().stderr ?? '', secrets()))
  return [
    ...(printed === '' ? [] : printed.split('\n')).map((text) => ({ source: 'stderr' as const, text })),
    ...log.all().map((line) => ({ source: 'log' as const, ...line })),
  ]
}

/**
 * What a server logs (`notifications/message`): read at the door, cleaned and bounded, so many lines a second and no more. A line
 * belongs to a call where that call is the only one under way on the connection; the protocol does not say it otherwise.
 */
const MAX_TEXT_LENGTH = 2000
const MAX_LOGGER_LENGTH = 100
const MAX_A_SECOND = 50
const MAX_LINES = 200
const MAX_KEPT = 32_000
const SECOND_MS = 1000

export interface LogHooks {
  /** Keeps it, and gives it as who calls may read it. */
  onLog?(line: ServerLogEntry): ServerLogEntry | undefined
}

/** Servers of the new era log for a request only where it says from which level on. */
export const wantsLogs = (level: LogLevel = 'info'): Readonly<Record<string, string>> => ({
  [LOG_LEVEL_META_KEY]: level,
})

export class SessionLog {
  readonly #hooks: LogHooks
  readonly #underWay = new Set<CallOptions>()
  #since = 0
  #count = 0

  constructor(hooks: LogHooks) {
    this.#hooks = hooks
  }

  heard({ level, logger, data }: { level: LogLevel; logger?: string | undefined; data?: unknown }): void {
    if (!this.#hooks.onLog || !this.#hasRoom()) return
    const text = sanitizeOutput(textOf(data)).slice(0, MAX_TEXT_LENGTH)
    const name = logger === undefined ? '' : sanitizeText(logger.slice(0, MAX_LOGGER_LENGTH)).trim()
    const shown = this.#hooks.onLog({ at: new Date(), level, text, ...(name === '' ? {} : { logger: name }) })
    const [only, another] = this.#underWay
    if (shown && only && another === undefined) only.onLog?.(shown)
  }

  /** Until the given function is called, what is logged may belong to this call. */
  during(options: CallOptions): () => void {
    this.#underWay.add(options)
    return () => void this.#underWay.delete(options)
  }

  /** Whoever floods is heard as far as people could read along. */
  #hasRoom(): boolean {
    const now = performance.now()
    if (now - this.#since > SECOND_MS) {
      this.#since = now
      this.#count = 0
    }
    return this.#count++ < MAX_A_SECOND
  }
}

/** Text is what most servers log; of anything else its JSON is shown. */
function textOf(data: unknown): string {
  if (typeof data === 'string') return data.slice(0, MAX_TEXT_LENGTH * 2)
  const said = (data as JsonObject | null | undefined)?.message
  if (typeof said === 'string' && Object.keys(data as JsonObject).length === 1)
    return said.slice(0, MAX_TEXT_LENGTH * 2)
  return (JSON.stringify(data) ?? '').slice(0, MAX_TEXT_LENGTH * 2)
}

export const redactLogEntry = (line: ServerLogEntry, secrets: readonly string[]): ServerLogEntry => ({
  ...line,
  text: redact(line.text, secrets),
  ...(line.logger === undefined ? {} : { logger: redact(line.logger, secrets) }),
})

/** The last lines, in their order. */
export class LogRing {
  #lines: ServerLogEntry[] = []
  #size = 0

  add(line: ServerLogEntry): void {
    this.#lines.push(line)
    this.#size += line.text.length
    while (this.#lines.length > MAX_LINES || this.#size > MAX_KEPT) this.#size -= this.#lines.shift()?.text.length ?? 0
  }

  all(): readonly ServerLogEntry[] {
    return this.#lines
  }
}
