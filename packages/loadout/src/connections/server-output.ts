/**
 * What servers say beside their answers: the latest of it, by connection, in this process. It stays after the connection ended,
 * until another opens or the toolkit goes; then only the end of it, so that many that idle cost little. Whoever reads it gets it
 * without secrets and without characters that a terminal or a model would obey.
 */
import { LRUCache } from 'lru-cache'
import { redact } from '../toolkits/redact.ts'
import type { Connection } from './connection.ts'
import { lines } from './failures.ts'

export interface OutputLine {
  source: 'stderr'
  text: string
}

export interface ServerOutput {
  /** Whether what said it is still connected. */
  running: boolean
  lines: OutputLine[]
}

const REMEMBERED = 1000
const NOTHING: ServerOutput = { running: false, lines: [] }

interface Kept {
  /** As long as it is open. */
  connection: Connection | undefined
  /** What must not be repeated, as it is now. */
  secrets(): readonly string[]
  ended: OutputLine[]
}

export class ServerOutputs {
  readonly #kept = new LRUCache<string, Kept>({ max: REMEMBERED })

  begin(id: string, connection: Connection, secrets: () => readonly string[]): void {
    this.#kept.set(id, { connection, secrets, ended: [] })
  }

  /** The connection is over, or another is on its way: what was said is kept, and nothing else of it. */
  end(id: string): void {
    const kept = this.#kept.get(id)
    if (!kept?.connection) return
    const ended = linesOf(kept)
    this.#kept.set(id, { connection: undefined, secrets: NO_SECRETS, ended })
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

const NO_SECRETS = () => []

function linesOf({ connection, secrets }: Kept): OutputLine[] {
  const printed = lines(redact(connection?.diagnostics().stderr ?? '', secrets()))
  return printed === '' ? [] : printed.split('\n').map((text) => ({ source: 'stderr', text }))
}
