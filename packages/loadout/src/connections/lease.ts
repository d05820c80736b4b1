/** What a pool is asked for and gives: connections by their keys, leased. `pool.ts` keeps them. */
import type { HostError } from '../errors.ts'
import type { Connection } from './connection.ts'

export interface PoolKey {
  /** The toolkit's `usco_…`, or the id of a toolkit that a context carries. */
  toolkit: string
  fingerprint: string
  /** Whose session; null where one is shared by all. */
  userId: string | null
}

export interface PoolOptions {
  /** @default 60_000 */
  idleMs?: number
  /** @default 3_600_000 */
  maxAgeMs?: number
  /** @default 32 */
  maxPerUser?: number
  /** @default 512 */
  maxPerHost?: number
  /** How long to wait for a place. @default 5000 */
  queueMs?: number
  /** Told when a connection opens, fails to, or ends. */
  onChange?: (key: PoolKey, change: PoolChange) => void
}

export type PoolChange = { status: 'connecting' | 'connected' | 'disconnected' } | { status: 'error'; error: HostError }

export interface Lease {
  connection: Connection
  release(): void
  /** Gives it back as broken: nobody gets it again. `why` is what people see of it. */
  discard(why?: HostError): void
}

export type OpenLeased = (onClosed: () => void) => Promise<Connection>

export interface Pool {
  /** `idleMs`: how long it is kept unused, where that is another time than usual. */
  lease(key: PoolKey, open: OpenLeased, idleMs?: number): Promise<Lease>
  /** Closes a toolkit's connections: idle ones now, used ones when their calls end. */
  retire(toolkit: string, keep?: (key: PoolKey) => boolean): Promise<void>
  /** Lets the next lease try at once, whatever failed before. */
  forgive(toolkit: string, userId?: string | null): void
  status(): PoolStatus[]
  counts(): PoolCounts
  close(): Promise<void>
}

export interface PoolCounts {
  /** Those that finish their last calls are among the leased. */
  connections: Record<'idle' | 'leased' | 'connecting', number>
  /** Who waits for a place. */
  waiting: number
}

export interface PoolStatus {
  key: PoolKey
  connection: Connection
  openedAt: Date
  leases: number
}
