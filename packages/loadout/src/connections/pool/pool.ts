/**
 * Live connections, leased. One connect at a time per key, shared by all who wait; nothing opens before it is needed; what
 * idles or grows old closes; caps per user and per host make the next one wait, and then say so. A key carries the
 * toolkit, the fingerprint of its config and the user, so no connection is ever another's.
 */

import { HostError } from '../../errors.ts'
import { createFairSemaphore, type FairSemaphore } from '../../util/fair-semaphore.ts'
import type { Connection } from '../connection.ts'
import { type Breaker, createBreaker, TRIPS_BREAKER } from './circuit-breaker.ts'

interface Entry {
  key: PoolKey
  opening: Promise<Connection>
  connection: Connection | undefined
  openedAt: number
  leases: number
  retired: boolean
  ended: boolean
  /** By the clock that never jumps. */
  idleSince: number
  idleMs: number
  /** One timer for many leases: when it fires too soon, it is set again for the rest. */
  idle: ReturnType<typeof setTimeout> | undefined
  freeSlot: () => void
  /** What its last user found wrong with it. */
  failure?: HostError
}

const DEFAULTS = { idleMs: 60_000, maxAgeMs: 3_600_000, maxPerUser: 32, maxPerHost: 512, queueMs: 5000 }

export function createPool(options: PoolOptions = {}): Pool {
  return new ConnectionPool({ ...DEFAULTS, onChange: () => {}, ...options })
}

class ConnectionPool implements Pool {
  readonly #entries = new Map<string, Entry>()
  /** Retired and not ended yet: calls in flight finish on them. */
  readonly #draining = new Set<Entry>()
  readonly #breakers = new Map<string, Breaker>()
  readonly #options: Required<PoolOptions>
  readonly #slots: FairSemaphore
  #closed = false

  constructor(options: Required<PoolOptions>) {
    this.#options = options
    this.#slots = createFairSemaphore(options, (userId) => this.#evict(userId))
  }

  async lease(key: PoolKey, open: OpenLeased, idleMs = this.#options.idleMs): Promise<Lease> {
    if (this.#closed) throw new HostError('shutting-down')
    const id = keyOf(key)
    const current = this.#entries.get(id)
    // What is still used finishes on the old one; new work gets a new one.
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
    // While this one waited for a place, the pool may have closed, or another opened the same.
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

  /** Only what time can mend is cooled down for: a refused command or a missing sign-in is told at once, each time. */
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
      // While it is leased there is nothing to wait for; the release starts anew.
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

  /** The server ended it. */
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
    // A new one of the same toolkit and user is what people want to hear of.
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

  /** Makes room by closing what idles longest, of this user where that is given. */
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

/** JSON, so that no part can bleed into its neighbour. */
const keyOf = ({ toolkit, fingerprint, userId }: PoolKey) => JSON.stringify([toolkit, fingerprint, userId])

/** What a pool is asked for and gives: connections by their keys, leased. `pool.ts` keeps them. */
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
  discard(failure?: HostError): void
}

export type OpenLeased = (onClosed: () => void) => Promise<Connection>

export interface Pool {
  /** `idleMs`: how long it is kept unused, where that is another time than usual. */
  lease(key: PoolKey, open: OpenLeased, idleMs?: number): Promise<Lease>
  /** Closes a toolkit's connections: idle ones now, used ones when their calls end. */
  retire(toolkit: string, keep?: (key: PoolKey) => boolean): Promise<void>
  /** Lets the next lease try at once, whatever failed before. */
  resetBreaker(toolkit: string, userId?: string | null): void
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
