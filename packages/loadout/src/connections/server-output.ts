/**
 * What servers say beside their answers: the latest of it, by connection, in this process. It stays after the connection ended,
 * until another opens or the toolkit goes; then only the end of it, so that many that idle cost little. Whoever reads it gets it
 * without secrets and without characters that a terminal or a model would obey.
 */
import { LRUCache } from 'lru-cache'
import { redact } from '../toolkits/redact.ts'
import type { Connection, ServerLogLine } from './connection.ts'
import { lines } from './failures.ts'
import type { LogRing } from './server-log.ts'

/** What it printed, which has no time of its own, or what it logged. */
export type OutputLine = { source: 'stderr'; text: string } | ({ source: 'log' } & ServerLogLine)

export interface ServerOutput {
  /** Whether what said it is still connected. */
  running: boolean
  lines: OutputLine[]
}

const REMEMBERED = 1000
const MOST_AFTERWARDS = 100
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
    const ended = linesOf(kept).slice(-MOST_AFTERWARDS)
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
  const printed = lines(redact(connection?.diagnostics().stderr ?? '', secrets()))
  return [
    ...(printed === '' ? [] : printed.split('\n')).map((text) => ({ source: 'stderr' as const, text })),
    ...log.all().map((line) => ({ source: 'log' as const, ...line })),
  ]
}
