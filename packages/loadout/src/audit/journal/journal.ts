/**
 * Journal: buffers entries until the database has them. The contract:
 *
 * - When `append` returns or resolves, the entry survives a `kill -9` of this process. If the entry cannot be written,
 *   `append` throws `audit-unavailable`, so that the recorded action does not happen.
 * - `follow` writes with the next append, or at the end of this turn of the event loop. It is for entries that may be
 *   lost with the process: the outcome of a call whose intent is durable.
 * - `read` returns the oldest unshipped entries, and the same ones until `shipped` is called.
 * - `recover` takes over the entries of a dead process. Exactly one live process succeeds.
 *
 * An entry may be read twice, by this process or a later one; the shipper stores it once.
 */
import { HostError } from '../../errors.ts'
import type { Sha256 } from '../chain.ts'
import type { AuditEntry } from '../entry.ts'

export interface JournalBatch {
  entries: AuditEntry[]
  /** Number of entries that this process appended, including unreadable ones. */
  own: number
  /** Whether the database may already have some of the entries. */
  maybeStored: boolean
  /** Marks the batch as stored. */
  shipped(): void
}

export interface Journal {
  append(entry: AuditEntry): void | Promise<void>
  follow(entry: AuditEntry): void | Promise<void>
  read(limit: number): JournalBatch | undefined
  /** Takes over journals of dead processes. Returns the number of files. */
  recover(): Promise<number>
  /** Releases resources. Unshipped entries stay for the next process. */
  close(): void
  /** Optional hash that is faster than WebCrypto. */
  readonly sha256?: Sha256
}

const MAX_PENDING = 100_000

/**
 * In-memory journal. It fulfills the contract only with `strict`, where an append waits for the commit, or with a
 * storage that does not survive the process either.
 */
export function memoryJournal(): Journal {
  // Serialized, so that later changes to the entry object are not stored.
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
      // A second read without `shipped` means that the last commit may have succeeded.
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
