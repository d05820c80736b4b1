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
const MAX_ENDED_LINES = 100
const NO_OUTPUT: ServerOutput = { running: false, lines: [] }

interface OutputRecord {
  /** As long as it is open. */
  connection: Connection | undefined
  /** What must not be repeated, as it is now. */
  secrets(): readonly string[]
  /** Without secrets already. */
  log: Pick<LogRing, 'entries'>
  ended: OutputLine[]
}

export type OutputSource = Pick<OutputRecord, 'secrets' | 'log'> & { connection: Connection }

export class ServerOutputs {
  readonly #records = new LRUCache<string, OutputRecord>({ max: REMEMBERED })

  begin(id: string, source: OutputSource): void {
    this.#records.set(id, { ...source, ended: [] })
  }

  /** The connection is over, or another is on its way: what was said is kept, and nothing else of it. */
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
 * What a server logs (`notifications/message`): read at the door, cleaned and bounded, so many lines a second and no more. A line
 * belongs to a call where that call is the only one under way on the connection; the protocol does not say it otherwise.
 */
const MAX_TEXT_LENGTH = 2000
const MAX_LOGGER_LENGTH = 100
const MAX_PER_SECOND = 50
const MAX_ENTRIES = 200
const MAX_LOG_CHARACTERS = 32_000
const SECOND_MS = 1000

export interface LogHooks {
  /** Keeps it, and gives it as who calls may read it. */
  onLog?(entry: ServerLogEntry): ServerLogEntry | undefined
}

/** Servers of the new era log for a request only where it says from which level on. */
export const logLevelMeta = (level: LogLevel = 'info'): Readonly<Record<string, string>> => ({
  [LOG_LEVEL_META_KEY]: level,
})

export class SessionLog {
  readonly #hooks: LogHooks
  readonly #activeCalls = new Set<CallOptions>()
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

  /** Until the given function is called, what is logged may belong to this call. */
  track(options: CallOptions): () => void {
    this.#activeCalls.add(options)
    return () => void this.#activeCalls.delete(options)
  }

  /** Whoever floods is heard as far as people could read along. */
  #isBelowRate(): boolean {
    const now = performance.now()
    if (now - this.#since > SECOND_MS) {
      this.#since = now
      this.#count = 0
    }
    return this.#count++ < MAX_PER_SECOND
  }
}

/** Text is what most servers log; of anything else its JSON is shown. */
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

/** The last lines, in their order. */
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
