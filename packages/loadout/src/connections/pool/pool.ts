/**
 * Pool of leased connections. One connect runs per key, and all waiters share it. Connections open on demand and close
 * when idle or too old. At the caps per user and host, a lease waits and then fails. A key contains toolkit, config
 * fingerprint and user, so users never share a connection by accident.
 */

import { HostError } from '../../errors.ts'
import type { Connection } from '../connection.ts'
import { type Breaker, createBreaker, TRIPS_BREAKER } from './circuit-breaker.ts'
import { type ConnectionSlots, createConnectionSlots } from './connection-slots.ts'

interface Entry {
  key: PoolKey
  opening: Promise<Connection>
  connection: Connection | undefined
  openedAt: number
  leases: number
  retired: boolean
  ended: boolean
  /** By the monotonic clock, `performance.now()`. */
  idleSince: number
  idleMs: number
  /** One timer serves many leases: if it fires early, it is set again for the remaining time. */
  idle: ReturnType<typeof setTimeout> | undefined
  freeSlot: () => void
  /** Error of the last lease. */
  failure?: HostError
}

const DEFAULTS = { idleMs: 60_000, maxAgeMs: 3_600_000, maxPerUser: 32, maxPerHost: 512, queueMs: 5000 }

export function createPool(options: PoolOptions = {}): Pool {
  return new ConnectionPool({ ...DEFAULTS, onChange: () => {}, ...options })
}

class ConnectionPool implements Pool {
  readonly #entries = new Map<string, Entry>()
  /** Retired entries on which running calls finish. */
  readonly #draining = new Set<Entry>()
  readonly #breakers = new Map<string, Breaker>()
  readonly #options: Required<PoolOptions>
  readonly #slots: ConnectionSlots
  #closed = false

  constructor(options: Required<PoolOptions>) {
    this.#options = options
    this.#slots = createConnectionSlots(options, (userId) => this.#evict(userId))
  }

  async lease(key: PoolKey, open: OpenLeased, idleMs = this.#options.idleMs): Promise<Lease> {
    if (this.#closed) throw new HostError('shutting-down')
    const id = keyOf(key)
    const current = this.#entries.get(id)
    // Running calls finish on the old connection; new work opens a new one.
    if (current && this.#isTooOld(current)) this.#retireEntry(current)
    if (current?.retired && current.leases === 0) await this.#end(current)
    const entry = this.#entries.get(id) ?? (await this.#open(key, open))
    entry.leases++
    entry.idleMs = idleMs
    try {
      const connection = await entry.opening
      return this.#createLease(entry, connection)
    } catch (error) {
      entry.leases--
      throw error
    }
  }

  async retire(toolkit: string, keep: (key: PoolKey) => boolean = () => false): Promise<void> {
    const retiring = [...this.#entries.values()].filter(({ key }) => key.toolkit === toolkit && !keep(key))
    await Promise.all(
      retiring.map(async (entry) => {
        this.#retireEntry(entry)
        if (entry.leases === 0) await this.#end(entry)
      }),
    )
  }

  resetBreaker(toolkit: string, userId?: string | null): void {
    for (const id of this.#breakers.keys()) {
      const [keyToolkit, , keyUserId] = JSON.parse(id) as [string, string, string | null]
      if (keyToolkit === toolkit && (userId === undefined || keyUserId === userId)) this.#breakers.delete(id)
    }
  }

  status() {
    return [...this.#entries.values()].flatMap(({ key, connection, openedAt, leases }) =>
      connection ? [{ key, connection, openedAt: new Date(openedAt), leases }] : [],
    )
  }

  counts(): PoolCounts {
    const connections = { idle: 0, leased: 0, connecting: 0 }
    for (const { connection, leases } of this.#entries.values())
      connections[connection === undefined ? 'connecting' : leases > 0 ? 'leased' : 'idle']++
    for (const { leases } of this.#draining) if (leases > 0) connections.leased++
    return { connections, waiting: this.#slots.waiting() }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#entries.values(), ...this.#draining].map((entry) => this.#drop(entry)))
  }

  async #open(key: PoolKey, open: OpenLeased): Promise<Entry> {
    const id = keyOf(key)
    this.#breakers.get(id)?.assertClosed(Date.now())
    const freeSlot = await this.#slots.acquire(key.userId)
    // While this lease waited for a slot, the pool may have closed or another lease may have opened the connection.
    const existing = this.#entries.get(id)
    if (existing || this.#closed) freeSlot()
    if (this.#closed) throw new HostError('shutting-down')
    if (existing) return existing
    const opening = open(() => this.#onLost(entry))
    const entry: Entry = {
      key,
      opening,
      connection: undefined,
      openedAt: Date.now(),
      leases: 0,
      retired: false,
      ended: false,
      idleSince: performance.now(),
      idleMs: this.#options.idleMs,
      idle: undefined,
      freeSlot,
    }
    this.#entries.set(id, entry)
    this.#options.onChange(key, { status: 'connecting' })
    opening.then(
      (connection) => {
        entry.connection = connection
        this.#breakers.delete(id)
        this.#options.onChange(key, { status: 'connected' })
      },
      (error) => {
        this.#noteFailure(id, error)
        this.#forget(entry)
        this.#options.onChange(key, { status: 'error', error: HostError.from(error) })
      },
    )
    return entry
  }

  /**
   * Only failures that time can fix trip the breaker; a refused command or a missing sign-in fails at once every time.
   */
  #noteFailure(id: string, error: unknown): void {
    if (!HostError.is(error) || !TRIPS_BREAKER.has(error.code)) return
    const breaker = this.#breakers.get(id) ?? createBreaker()
    this.#breakers.set(id, breaker)
    breaker.failed(Date.now())
  }

  #createLease(entry: Entry, connection: Connection): Lease {
    let isReturned = false
    const returnLease = (broken: boolean, failure?: HostError) => {
      if (isReturned) return
      isReturned = true
      entry.leases--
      if (broken) this.#retireEntry(entry)
      if (failure && !entry.failure) {
        entry.failure = failure
        this.#options.onChange(entry.key, { status: 'error', error: failure })
      }
      if (entry.leases > 0) return
      if (entry.retired) void this.#end(entry)
      else this.#startIdling(entry)
    }
    return { connection, release: () => returnLease(false), discard: (why) => returnLease(true, why) }
  }

  #startIdling(entry: Entry): void {
    entry.idleSince = performance.now()
    if (entry.idle === undefined) this.#dropWhenIdle(entry, entry.idleMs)
    this.#slots.notifyIdle()
  }

  #dropWhenIdle(entry: Entry, afterMs: number): void {
    const check = () => {
      entry.idle = undefined
      // A leased connection is not idle; the release starts the timer again.
      if (entry.leases > 0 || entry.retired) return
      const leftMs = entry.idleSince + entry.idleMs - performance.now()
      if (leftMs > 0) this.#dropWhenIdle(entry, leftMs)
      else void this.#drop(entry)
    }
    entry.idle = setTimeout(check, afterMs)
    entry.idle.unref?.()
  }

  #retireEntry(entry: Entry): void {
    entry.retired = true
    if (!entry.ended) this.#draining.add(entry)
    if (this.#entries.get(keyOf(entry.key)) === entry) this.#entries.delete(keyOf(entry.key))
  }

  #isTooOld(entry: Entry): boolean {
    return entry.connection !== undefined && Date.now() - entry.openedAt > this.#options.maxAgeMs
  }

  /** The server closed the connection. */
  #onLost(entry: Entry): void {
    if (entry.retired) return
    this.#retireEntry(entry)
    void this.#end(entry)
  }

  async #drop(entry: Entry): Promise<void> {
    this.#retireEntry(entry)
    await this.#end(entry)
  }

  async #end(entry: Entry): Promise<void> {
    this.#forget(entry)
    if (entry.ended) return
    entry.ended = true
    const connection = await entry.opening.catch(() => undefined)
    await connection?.close()
    this.#draining.delete(entry)
    // If a new connection of the same toolkit and user exists, its state is the visible one.
    const isReplaced = [...this.#entries.values()].some(
      ({ key }) => key.toolkit === entry.key.toolkit && key.userId === entry.key.userId,
    )
    if (connection && !isReplaced && !entry.failure) this.#options.onChange(entry.key, { status: 'disconnected' })
  }

  #forget(entry: Entry): void {
    clearTimeout(entry.idle)
    if (this.#entries.get(keyOf(entry.key)) === entry) this.#entries.delete(keyOf(entry.key))
    entry.freeSlot()
  }

  /** Closes the longest idle connection, of `userId` if set. */
  #evict(userId: string | null | undefined): boolean {
    let oldest: Entry | undefined
    for (const entry of this.#entries.values()) {
      const isIdle = entry.leases === 0 && entry.connection !== undefined
      if (!isIdle || (userId !== undefined && entry.key.userId !== userId)) continue
      if (oldest === undefined || entry.idleSince < oldest.idleSince) oldest = entry
    }
    if (!oldest) return false
    void this.#drop(oldest)
    return true
  }
}

/** JSON, so that no part can run into the next. */
const keyOf = ({ toolkit, fingerprint, userId }: PoolKey) => JSON.stringify([toolkit, fingerprint, userId])

export interface PoolKey {
  /** The toolkit's `usco_…`, or the ID of an ephemeral toolkit. */
  toolkit: string
  fingerprint: string
  /** Owner of the session; null for a shared connection. */
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
  /** Milliseconds to wait for a slot. @default 5000 */
  queueMs?: number
  /** Called when a connection opens, fails to open, or closes. */
  onChange?: (key: PoolKey, change: PoolChange) => void
}

export type PoolChange = { status: 'connecting' | 'connected' | 'disconnected' } | { status: 'error'; error: HostError }

export interface Lease {
  connection: Connection
  release(): void
  /** Returns the connection as broken, so that it is never leased again. `failure` becomes the visible state. */
  discard(failure?: HostError): void
}

export type OpenLeased = (onClosed: () => void) => Promise<Connection>

export interface Pool {
  /** `idleMs` overrides the pool's idle timeout. */
  lease(key: PoolKey, open: OpenLeased, idleMs?: number): Promise<Lease>
  /** Closes a toolkit's connections: idle ones at once, leased ones after their calls. */
  retire(toolkit: string, keep?: (key: PoolKey) => boolean): Promise<void>
  /** Allows the next lease at once, whatever failed before. */
  resetBreaker(toolkit: string, userId?: string | null): void
  status(): PoolStatus[]
  counts(): PoolCounts
  close(): Promise<void>
}

export interface PoolCounts {
  /** Retired connections with running calls count as leased. */
  connections: Record<'idle' | 'leased' | 'connecting', number>
  /** Leases that wait for a slot. */
  waiting: number
}

export interface PoolStatus {
  key: PoolKey
  connection: Connection
  openedAt: Date
  leases: number
}
