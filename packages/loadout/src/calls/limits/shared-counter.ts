/**
 * The places of one subject (a user, or one of their toolkits), shared by all processes through one row. The row never says
 * less of this process than it has under way: a place is written before it is used and given back after. Writers compare and
 * set, one at a time in a process, each with all that came and went since. A place of a process that is gone does not count.
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
  /** There is nothing to remember of it any more. */
  onIdle(): void
}

interface Waiter {
  max: number
  /** When it stops to look for a place. */
  until: number
  resolve(entered: boolean): void
  reject(error: unknown): void
}

/** How many this process is to have, by how many the others have. */
type Next = (others: number) => { mine: number; grows: boolean }

/** What others hold may be on its way back: so long it is looked for again. */
const WAIT_MS = 300
const RETRY_MS = 25
const WRITE_RETRY_MS = 1000
const MAX_TRIES = 200

export class ConcurrencySlots {
  readonly #deps: SlotsDeps
  readonly #key: SlotsKey
  /** Under way here. */
  #inUse = 0
  /** What the row says of us; undefined where that is not known. */
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

  /** Whether there was a place. Fails as the storage does. */
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

  /** Writes what is left to write, as far as it can be written. */
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
    // In one step with the last look at the work: whoever comes now begins anew.
    this.#isWorking = false
    if (this.#inUse === 0) this.#deps.onIdle()
  }

  /** One write for all that came and went. */
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
    // Where this process alone has as many as there may be, there is nothing to look for.
    const refused = waiting.filter(
      (waiter) => !admitted.has(waiter) && (this.#inUse >= waiter.max || waiter.until <= now),
    )
    this.#waiters = this.#waiters.filter((waiter) => !admitted.has(waiter) && !refused.includes(waiter))
    for (const waiter of admitted) waiter.resolve(true)
    for (const waiter of refused) waiter.resolve(false)
  }

  /** Nobody enters on a guess, and whether it was written is not known. */
  #fail(error: unknown): true {
    this.#written = undefined
    for (const { reject } of this.#waiters.splice(0)) reject(error)
    return true
  }

  /** Compare and set, until nobody came between. */
  async #change(next: Next): Promise<number> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const mine = await this.#deps.storage
        .transaction({ userId: this.#key.userId }, (tx) => this.#tryChange(tx, next))
        .catch((error: unknown) => {
          // Two first writers: the loser looks again.
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
    // A row that is gone went with its user, and does not come back because one of their calls ends.
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

  /** Until then, or until something comes or goes. */
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

/** The others, and how many places those of them have that are alive. Who closed is not among them any more. */
async function countOthers(tx: Transaction, row: ConcurrencyRow | undefined, self: string) {
  const holders: Record<string, number> = {}
  let count = 0
  for (const [processId, slots] of Object.entries(row?.holdersJson ?? {})) {
    const owner = processId === self ? undefined : await tx.get('processes', processId)
    if (!owner) continue
    // Who only seems gone may come back, with all that it has under way.
    holders[processId] = slots
    if (owner.aliveUntil > new Date()) count += slots
  }
  return { holders, count }
}
