/**
 * Recent stderr output and log entries of servers, by connection, in this process. After a connection ends, the last
 * `MAX_ENDED_LINES` stay until the next one opens or the toolkit is removed. Reads return text without secrets, control
 * characters and terminal escapes.
 */

import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../../schema/json.ts'
import { redact } from '../../toolkits/secrets/redact.ts'
import type { Connection, ConnectionCallOptions, LogLevel, ServerLogEntry } from '../connection.ts'
import { sanitizeOutput, sanitizeText } from '../errors.ts'

/** A stderr line, which has no timestamp, or a log entry. */
export type OutputLine = { source: 'stderr'; text: string } | ({ source: 'log' } & ServerLogEntry)

export interface ServerOutput {
  /** Whether the server is still connected. */
  running: boolean
  lines: OutputLine[]
}

const REMEMBERED = 1000
const MAX_ENDED_LINES = 100
const NO_OUTPUT: ServerOutput = { running: false, lines: [] }

interface OutputRecord {
  /** Undefined after the connection ended. */
  connection: Connection | undefined
  /** Current values to redact from stderr. */
  secrets(): readonly string[]
  /** Already redacted. */
  log: Pick<LogRing, 'entries'>
  ended: OutputLine[]
}

export type OutputSource = Pick<OutputRecord, 'secrets' | 'log'> & { connection: Connection }

export class ServerOutputs {
  readonly #records = new LRUCache<string, OutputRecord>({ max: REMEMBERED })

  begin(id: string, source: OutputSource): void {
    this.#records.set(id, { ...source, ended: [] })
  }

  /** Keeps only the last lines of an ended connection. */
  end(id: string): void {
    const record = this.#records.get(id)
    if (!record?.connection) return
    const ended = collectLines(record).slice(-MAX_ENDED_LINES)
    this.#records.set(id, { connection: undefined, secrets: EMPTY, log: { entries: EMPTY }, ended })
  }

  read(id: string): ServerOutput {
    const record = this.#records.get(id)
    if (!record) return NO_OUTPUT
    return record.connection
      ? { running: record.connection.isOpen(), lines: collectLines(record) }
      : { running: false, lines: record.ended }
  }

  forget(isGone: (id: string) => boolean): void {
    for (const id of [...this.#records.keys()]) if (isGone(id)) this.#records.delete(id)
  }
}

const EMPTY = () => []

function collectLines({ connection, secrets, log }: OutputRecord): OutputLine[] {
  const printed = sanitizeOutput(redact(connection?.diagnostics().stderr ?? '', secrets()))
  return [
    ...(printed === '' ? [] : printed.split('\n')).map((text) => ({ source: 'stderr' as const, text })),
    ...log.entries().map((entry) => ({ source: 'log' as const, ...entry })),
  ]
}

/**
 * Log entries of a session (`notifications/message`): sanitized, bounded and rate-limited. An entry belongs to a call
 * only if that call is the only running one, because the protocol does not link them.
 */
const MAX_TEXT_LENGTH = 2000
const MAX_LOGGER_LENGTH = 100
const MAX_PER_SECOND = 50
const MAX_ENTRIES = 200
const MAX_LOG_CHARACTERS = 32_000
const SECOND_MS = 1000

export interface LogHooks {
  /** Stores the entry and returns it as the caller may read it. */
  onLog?(entry: ServerLogEntry): ServerLogEntry | undefined
}

/** `LOG_LEVEL_META_KEY` of the SDK. */
const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel'

/** Modern servers log for a request only if it sets a level. */
export const logLevelMeta = (level: LogLevel = 'info'): Readonly<Record<string, string>> => ({
  [LOG_LEVEL_META_KEY]: level,
})

export class SessionLog {
  readonly #hooks: LogHooks
  readonly #activeCalls = new Set<ConnectionCallOptions>()
  #since = 0
  #count = 0

  constructor(hooks: LogHooks) {
    this.#hooks = hooks
  }

  receive({ level, logger, data }: { level: LogLevel; logger?: string | undefined; data?: unknown }): void {
    if (!this.#hooks.onLog || !this.#isBelowRate()) return
    const text = sanitizeOutput(textOf(data)).slice(0, MAX_TEXT_LENGTH)
    const name = logger === undefined ? '' : sanitizeText(logger.slice(0, MAX_LOGGER_LENGTH)).trim()
    const visible = this.#hooks.onLog({ at: new Date(), level, text, ...(name === '' ? {} : { logger: name }) })
    const [only, another] = this.#activeCalls
    if (visible && only && another === undefined) only.onLog?.(visible)
  }

  /** Log entries may belong to this call until the returned function is called. */
  track(options: ConnectionCallOptions): () => void {
    this.#activeCalls.add(options)
    return () => void this.#activeCalls.delete(options)
  }

  /** Limits entries to `MAX_PER_SECOND`. */
  #isBelowRate(): boolean {
    const now = performance.now()
    if (now - this.#since > SECOND_MS) {
      this.#since = now
      this.#count = 0
    }
    return this.#count++ < MAX_PER_SECOND
  }
}

/** Most servers log text; any other value is logged as JSON. */
function textOf(data: unknown): string {
  if (typeof data === 'string') return data.slice(0, MAX_TEXT_LENGTH * 2)
  const message = (data as JsonObject | null | undefined)?.message
  if (typeof message === 'string' && Object.keys(data as JsonObject).length === 1)
    return message.slice(0, MAX_TEXT_LENGTH * 2)
  return (JSON.stringify(data) ?? '').slice(0, MAX_TEXT_LENGTH * 2)
}

export const redactLogEntry = (entry: ServerLogEntry, secrets: readonly string[]): ServerLogEntry => ({
  ...entry,
  text: redact(entry.text, secrets),
  ...(entry.logger === undefined ? {} : { logger: redact(entry.logger, secrets) }),
})

/** The last entries, in order. */
export class LogRing {
  #entries: ServerLogEntry[] = []
  #size = 0

  add(entry: ServerLogEntry): void {
    this.#entries.push(entry)
    this.#size += entry.text.length
    while (this.#entries.length > MAX_ENTRIES || this.#size > MAX_LOG_CHARACTERS)
      this.#size -= this.#entries.shift()?.text.length ?? 0
  }

  entries(): readonly ServerLogEntry[] {
    return this.#entries
  }
}
