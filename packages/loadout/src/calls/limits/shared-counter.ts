/**
 * Concurrency slots of one subject (a user or a toolkit), shared by all processes through one row. The row never shows
 * fewer slots for this process than it uses: a slot is written before use and released after. Writes are
 * compare-and-set, one at a time per process, and each includes all changes so far. Slots of dead processes do not
 * count.
 */
import { HostError } from '../../errors.ts'
import { newId } from '../../schema/ids.ts'
import type { ConcurrencyRow } from '../../schema/records/bookkeeping.ts'
import type { Storage, Transaction } from '../../storage/storage.ts'

export interface SlotsKey {
  userId: string
  /** `user` or `toolkit:<id>`. */
  subject: string
}

export interface SlotsDeps {
  storage: Storage
  processId: string
  /** Called when no slot is in use, so that the object can be dropped. */
  onIdle(): void
}

interface Waiter {
  max: number
  /** Time at which the waiter gives up. */
  until: number
  resolve(entered: boolean): void
  reject(error: unknown): void
}

/** Computes the slots of this process from the number of slots that others use. */
type Next = (others: number) => { mine: number; grows: boolean }

/** Retry for this time in ms: another process may release a slot. */
const WAIT_MS = 300
const RETRY_MS = 25
const WRITE_RETRY_MS = 1000
const MAX_TRIES = 200

export class ConcurrencySlots {
  readonly #deps: SlotsDeps
  readonly #key: SlotsKey
  /** Slots in use in this process. */
  #inUse = 0
  /** Slots of this process in the row; undefined if unknown after a failed write. */
  #written: number | undefined = 0
  #waiters: Waiter[] = []
  #isWorking = false
  #work: Promise<void> | undefined
  #wake: (() => void) | undefined
  #closed = false

  constructor(deps: SlotsDeps, key: SlotsKey) {
    this.#deps = deps
    this.#key = key
  }

  /** Returns whether a slot was acquired. Rejects if the storage fails. */
  acquire(max: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    this.#waiters.push({ max, until: Date.now() + WAIT_MS, resolve, reject })
    this.#start()
    return promise
  }

  release(): void {
    this.#inUse--
    this.#start()
  }

  /** Writes pending releases, if the storage permits. */
  async close(): Promise<void> {
    this.#closed = true
    this.#wake?.()
    await this.#work
  }

  #start(): void {
    this.#wake?.()
    if (this.#isWorking) return
    this.#isWorking = true
    this.#work = this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiters.length > 0 || this.#written !== this.#inUse) {
      const failed = await this.#write().then(
        () => false,
        (error: unknown) => this.#fail(error),
      )
      if (failed && this.#closed) break
      if (failed) await this.#pause(WRITE_RETRY_MS)
      else if (this.#waiters.length > 0) await this.#pause(RETRY_MS * (0.5 + Math.random()))
    }
    // Synchronous with the last check of the loop, so that no request is missed.
    this.#isWorking = false
    if (this.#inUse === 0) this.#deps.onIdle()
  }

  /** Writes all pending acquires and releases at once. */
  async #write(): Promise<void> {
    const waiting = [...this.#waiters]
    let admitted = new Set<Waiter>()
    const mine = await this.#change((others) => {
      admitted = new Set()
      for (const waiter of waiting) if (others + this.#inUse + admitted.size < waiter.max) admitted.add(waiter)
      return { mine: this.#inUse + admitted.size, grows: admitted.size > 0 }
    })
    this.#written = mine
    this.#inUse += admitted.size
    const now = Date.now()
    // Retrying is useless if this process alone uses all slots.
    const refused = waiting.filter(
      (waiter) => !admitted.has(waiter) && (this.#inUse >= waiter.max || waiter.until <= now),
    )
    this.#waiters = this.#waiters.filter((waiter) => !admitted.has(waiter) && !refused.includes(waiter))
    for (const waiter of admitted) waiter.resolve(true)
    for (const waiter of refused) waiter.resolve(false)
  }

  /** The write failed: reject all waiters and reload the row before the next try. */
  #fail(error: unknown): true {
    this.#written = undefined
    for (const { reject } of this.#waiters.splice(0)) reject(error)
    return true
  }

  /** Retries compare-and-set until no other process interferes. */
  async #change(next: Next): Promise<number> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const mine = await this.#deps.storage
        .transaction({ userId: this.#key.userId }, (tx) => this.#tryChange(tx, next))
        .catch((error: unknown) => {
          // Two processes inserted the row; the loser retries.
          if (HostError.is(error) && error.code === 'conflict') return undefined
          throw error
        })
      if (mine !== undefined) return mine
    }
    throw new HostError('storage-unavailable', { detail: 'A place could not be taken: too many write it at once.' })
  }

  async #tryChange(tx: Transaction, next: Next): Promise<number | undefined> {
    const { userId, subject } = this.#key
    const { processId } = this.#deps
    const [row] = await tx.list('places', { where: { userId, subject } })
    const { holders, count } = await countOthers(tx, row, processId)
    const { mine, grows } = next(count)
    if (mine === (row?.holdersJson[processId] ?? 0)) return mine
    // A missing row was deleted with its user and must not be created again when a call ends.
    if (!row && !grows) return mine
    const set = { holdersJson: mine > 0 ? { ...holders, [processId]: mine } : holders, updatedAt: new Date() }
    if (row) {
      const version = row.version + 1
      const done = await tx.update('places', row.placesId, {
        set: { ...set, version },
        where: { version: row.version },
      })
      return done && mine
    }
    await tx.insert('places', { placesId: newId('places'), userId, subject, version: 1, ...set })
    return mine
  }

  /** Waits for a time in ms, or until a slot is requested or released. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer: { unref?: () => void } | number = setTimeout(resolve, ms)
      if (typeof timer === 'object' && this.#waiters.length === 0) timer.unref?.()
      this.#wake = () => {
        clearTimeout(timer as ReturnType<typeof setTimeout>)
        this.#wake = undefined
        resolve()
      }
    })
  }
}

/** Other processes in the row, and the number of slots of those that are alive. */
async function countOthers(tx: Transaction, row: ConcurrencyRow | undefined, self: string) {
  const holders: Record<string, number> = {}
  let count = 0
  for (const [processId, slots] of Object.entries(row?.holdersJson ?? {})) {
    const owner = processId === self ? undefined : await tx.get('processes', processId)
    if (!owner) continue
    // A process that missed heartbeats may return with all its calls.
    holders[processId] = slots
    if (owner.aliveUntil > new Date()) count += slots
  }
  return { holders, count }
}
