/**
 * Where entries wait until the database has them. The contract:
 *
 * - When `append` returns (or its promise resolves) the entry outlives a `kill -9` of this process; one that cannot be
 *   kept throws `audit-unavailable`, so that what it would have told of does not happen.
 * - What `follow` is given is kept soon: with the next append, or when this turn of the event loop ends. It is for what may
 *   be lost with the process, because what it follows is safe: the outcome of a call whose intent is kept.
 * - `read` gives the oldest entries that are not marked as shipped, the same ones until `shipped` is called.
 * - What a dead process left behind is found by `recover`, by one living process alone.
 *
 * An entry may be read twice, by this process or a later one; the shipper stores it once.
 */
import { HostError } from '../../errors.ts'
import type { Sha256 } from '../chain.ts'
import type { AuditEntry } from '../entry.ts'

export interface JournalBatch {
  entries: AuditEntry[]
  /** How many of them this process appended, the unreadable ones counted. */
  own: number
  /** Whether the database may have some of them already. */
  maybeStored: boolean
  /** The database has them. */
  shipped(): void
}

export interface Journal {
  append(entry: AuditEntry): void | Promise<void>
  follow(entry: AuditEntry): void | Promise<void>
  read(limit: number): JournalBatch | undefined
  /** Takes over what dead processes left. Says how many files that were. */
  recover(): Promise<number>
  /** Frees what it holds. What was not shipped stays for the next process. */
  close(): void
  /** A faster hash than the web's, where the journal has one to lend. */
  readonly sha256?: Sha256
}

const MAX_PENDING = 100_000

/**
 * Entries in memory. It keeps the contract only together with `strict`, where an append waits for the commit, or with a
 * storage that does not outlive the process either.
 */
export function memoryJournal(): Journal {
  // As text, as a file would have it: what the caller does to its objects afterwards is not told.
  let pending: string[] = []
  let failed = false
  const append = (entry: AuditEntry) => {
    if (pending.length >= MAX_PENDING)
      throw new HostError('audit-unavailable', { detail: 'Too many entries of the audit wait for the database.' })
    pending.push(JSON.stringify(entry))
  }
  return {
    append,
    follow: append,
    read(limit) {
      if (pending.length === 0) return undefined
      const entries = pending.slice(0, limit).map((line): AuditEntry => JSON.parse(line))
      const maybeStored = failed
      // Read again without having been shipped: the last attempt may have been stored all the same.
      failed = true
      return {
        entries,
        own: entries.length,
        maybeStored,
        shipped() {
          pending = pending.slice(entries.length)
          failed = false
        },
      }
    },
    recover: async () => 0,
    close() {},
  }
}
