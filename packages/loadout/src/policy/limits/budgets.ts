/**
 * Counters that all processes share, such as calls per hour and tokens per day. A process reserves blocks, so that most
 * calls need no round trip; near the limit the block size is 1, so that the limit is exact. Unused reservations are
 * returned when the process is idle or closes, and when the limit is lowered, so that a new limit applies to the next
 * call. Reservations of a killed process are lost, never used twice.
 */
import { HostError } from '../../errors.ts'
import { newId } from '../../schema/ids.ts'
import type { UsageRow } from '../../schema/records/bookkeeping.ts'
import type { Storage } from '../../storage/storage.ts'

export interface BudgetKey {
  userId: string
  /** `user`, `thread:<id>` or `run:<id>`. */
  subject: string
  counter: UsageRow['counter']
  windowMs: number
  /** A time within the window. @default now */
  at?: number | undefined
}

export type Taken = { ok: true } | { ok: false; resetsAt: Date }

export interface Budgets {
  /** Takes one unit, or returns when the limit resets. */
  take(key: BudgetKey, limit: number): Taken | Promise<Taken>
  /** Returns an unused unit. */
  giveBack(key: BudgetKey): void
  /** Adds to the counter regardless of the limit; the next `take` includes it. */
  spend(key: BudgetKey, amount: number): void
  /** Current value over all processes. */
  used(key: BudgetKey): Promise<{ value: number; resetsAt: Date }>
  /** Drops the counters of a removed user without writing them. */
  forget(userId: string): void
  /** Writes all counters and returns unused reservations. */
  close(): Promise<void>
}

const MAX_BLOCK = 64
const SHARE = 16
const IDLE_MS = 1000
const MAX_UNWRITTEN = 10_000
const MAX_TRIES = 200
const TAKEN: Taken = { ok: true }

export function createBudgets(storage: Storage): Budgets {
  const open = new Map<string, Budget>()
  const budgetFor = (key: BudgetKey): Budget => {
    const start = windowStart(key)
    // IDs contain no control characters, so the key is unambiguous.
    const id = `${key.userId}\n${key.subject}\n${key.counter}\n${start}`
    const existing = open.get(id)
    if (existing) return existing
    const budget = new Budget(storage, key, new Date(start))
    open.set(id, budget)
    forgetOld(open)
    return budget
  }
  return {
    take: (key, limit) => budgetFor(key).take(limit),
    giveBack: (key) => budgetFor(key).giveBack(),
    spend: (key, amount) => budgetFor(key).spend(amount),
    used: (key) => budgetFor(key).used(),
    forget(userId) {
      for (const [id, budget] of open) {
        if (budget.userId !== userId) continue
        budget.drop()
        open.delete(id)
      }
    },
    async close() {
      await Promise.allSettled([...open.values()].map((budget) => budget.settle()))
      open.clear()
    },
  }
}

const windowStart = ({ windowMs, at = Date.now() }: BudgetKey) => Math.floor(at / windowMs) * windowMs

const MAX_OPEN = 50_000

/** Settles and drops ended windows first, then the oldest. */
function forgetOld(open: Map<string, Budget>): void {
  if (open.size <= MAX_OPEN) return
  for (const [id, budget] of open) {
    if (open.size <= MAX_OPEN / 2 && !budget.isOver()) return
    void budget.settle().catch(() => {})
    open.delete(id)
  }
}

class Budget {
  readonly #storage: Storage
  readonly #key: BudgetKey
  readonly #start: Date
  /** Reserved and unused units. Negative: used but not yet written. */
  #left = 0
  /** The limit of the current reservation. */
  #limit = 0
  #wasLowered = false
  #lowering: Promise<void> | undefined
  #refilling: Promise<boolean> | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #touchedAt = 0

  constructor(storage: Storage, key: BudgetKey, start: Date) {
    this.#storage = storage
    this.#key = key
    this.#start = start
  }

  get userId(): string {
    return this.#key.userId
  }

  drop(): void {
    clearTimeout(this.#idle)
    this.#left = 0
  }

  /** Synchronous while this process has a reservation. */
  take(limit: number): Taken | Promise<Taken> {
    if (this.#left < 1 || limit < this.#limit || this.#lowering) return this.#takeLater(limit)
    this.#left--
    this.#touch()
    return TAKEN
  }

  async #takeLater(limit: number): Promise<Taken> {
    if (limit < this.#limit) this.#lower(limit)
    await this.#lowering
    while (this.#left < 1) {
      this.#refilling ??= this.#refill(limit).finally(() => {
        this.#refilling = undefined
      })
      if (!(await this.#refilling) && this.#left < 1) return { ok: false, resetsAt: this.#resetsAt() }
    }
    this.#left--
    this.#touch()
    return { ok: true }
  }

  /** Returns a reservation that was made under a higher limit. */
  #lower(limit: number): void {
    this.#limit = limit
    this.#wasLowered = true
    this.#lowering ??= this.settle()
      .catch((error: unknown) => {
        this.#limit = Number.POSITIVE_INFINITY
        throw error
      })
      .finally(() => {
        this.#lowering = undefined
      })
  }

  giveBack(): void {
    this.spend(-1)
  }

  spend(amount: number): void {
    this.#left -= amount
    this.#touch()
    // A unit from a higher limit must not be used under the new one.
    if (amount < 0 && this.#wasLowered) this.#limit = Number.POSITIVE_INFINITY
    // Write regularly, even if the process is never idle.
    if (this.#left < -MAX_UNWRITTEN) void this.settle().catch(() => {})
  }

  async used(): Promise<{ value: number; resetsAt: Date }> {
    const row = await this.#storage.transaction({ userId: this.#key.userId }, async (tx) => {
      const { userId, subject, counter } = this.#key
      const [found] = await tx.list('usage', { where: { userId, subject, counter, windowStart: this.#start } })
      return found
    })
    return { value: (row?.value ?? 0) - this.#left, resetsAt: this.#resetsAt() }
  }

  isOver(): boolean {
    return this.#resetsAt().getTime() <= Date.now()
  }

  /** Returns unused units and writes used ones. */
  async settle(): Promise<void> {
    clearTimeout(this.#idle)
    this.#idle = undefined
    await this.#refilling?.catch(() => {})
    const left = this.#left
    if (left === 0) return
    this.#left = 0
    await this.#change((value) => Math.max(0, value - left)).catch((error: unknown) => {
      this.#left += left
      throw error
    })
  }

  #resetsAt(): Date {
    return new Date(this.#start.getTime() + this.#key.windowMs)
  }

  /** One timer for many calls: if it fires early, it is set again for the rest. */
  #touch(): void {
    this.#touchedAt = Date.now()
    if (this.#idle === undefined) this.#wait(IDLE_MS)
  }

  #wait(ms: number): void {
    const timer: { unref?: () => void } | number = setTimeout(() => {
      this.#idle = undefined
      const rest = this.#touchedAt + IDLE_MS - Date.now()
      if (rest > 0) this.#wait(rest)
      else void this.settle().catch(() => {})
    }, ms)
    if (typeof timer === 'object') timer.unref?.()
    this.#idle = timer as ReturnType<typeof setTimeout>
  }

  /** Reserves a block and writes overspent units. Returns whether a unit is available. */
  async #refill(limit: number): Promise<boolean> {
    this.#limit = limit
    const debt = Math.max(0, -this.#left)
    let block = 0
    await this.#change((value) => {
      const rest = limit - value - debt
      block = rest <= 0 ? 0 : Math.max(1, Math.min(MAX_BLOCK, Math.floor(rest / SHARE)))
      return value + debt + block
    })
    this.#left += debt + block
    return block > 0
  }

  /** Retries compare-and-set until no other process interferes. */
  async #change(next: (value: number) => number): Promise<void> {
    const { userId, subject, counter } = this.#key
    const where = { userId, subject, counter, windowStart: this.#start }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const done = await this.#storage
        .transaction({ userId }, async (tx) => {
          const [row] = await tx.list('usage', { where })
          const value = next(row?.value ?? 0)
          if (row && value === row.value) return true
          if (row)
            return (
              (await tx.update('usage', row.usageId, { set: { value }, where: { value: row.value } })) !== undefined
            )
          if (value > 0) await tx.insert('usage', { usageId: newId('usage'), ...where, value })
          return true
        })
        .catch((error: unknown) => {
          // Two processes inserted the row; the loser retries.
          if (HostError.is(error) && error.code === 'conflict') return false
          throw error
        })
      if (done) return
    }
    throw new HostError('storage-unavailable', { detail: 'A counter could not be written: too many write it at once.' })
  }
}
