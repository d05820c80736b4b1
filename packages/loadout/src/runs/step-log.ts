/**
 * The log of one run while it is worked on. Results reach the run in the order in which they are written, and on a replay in
 * that order again; what is new comes after all that is replayed. Every write holds only as long as the run is ours.
 */
import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { RunRow, StepRow } from '../schema/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { decide, type StepRequest } from './decide.ts'
import type { RunLog, StepAnswer, StepResult, StepWork } from './engine.ts'
import { keepable } from './keepable.ts'

/** What is kept of a step that ended. */
interface Ended {
  /** Its place among the results. */
  order: number
  at: number
  result: StepResult
}

/** What is kept of a step that waits. */
interface Waits {
  approvalId: string
  until: number
}

export interface StepLogParts {
  storage: Storage
  run: Pick<RunRow, 'runId' | 'userId' | 'leaseOwner'>
  recorded: readonly StepRow[]
  signal: AbortSignal
  /** The run is not ours any more. */
  onLost(): void
}

/** A replay that asks for nothing more while its log has more is not the program that wrote it. */
const STALLED_MS = 10_000

export class StepLog implements RunLog {
  readonly #parts: StepLogParts
  readonly #bySeq: Map<number, StepRow>
  readonly #turns: Turns
  readonly #waits = new Map<string, Waits>()
  #order: number
  #writing: Promise<unknown> = Promise.resolve()
  #batch: Array<(tx: Transaction) => Promise<unknown>> = []
  #flushing: Promise<void> | undefined
  #isUnknown = false

  constructor(parts: StepLogParts) {
    this.#parts = parts
    this.#bySeq = new Map(parts.recorded.map((step) => [step.seq, step]))
    const ended = parts.recorded.filter(hasEnded).map((step) => endedOf(step).order)
    this.#turns = new Turns(ended)
    this.#order = Math.max(-1, ...ended) + 1
  }

  get recorded(): number {
    return this.#bySeq.size
  }

  /** When somebody must look again, where it stands for an answer. */
  get waitsUntil(): Date | undefined {
    const times = [...this.#waits.values()].map(({ until }) => until)
    return times.length === 0 ? undefined : new Date(Math.min(...times))
  }

  get approvals(): string[] {
    return [...this.#waits.values()].map(({ approvalId }) => approvalId)
  }

  get isUnknown(): boolean {
    return this.#isUnknown
  }

  /** How many recorded results nobody asked for. */
  get unasked(): number {
    return this.#turns.left
  }

  async step(request: StepRequest, work: StepWork): Promise<StepAnswer> {
    const known = this.#bySeq.get(request.seq)
    const decision = decide(known, request)
    if (decision.do === 'drift') throw new HostError('run-drift', { detail: decision.detail })
    if (decision.do === 'unknown') return this.#unknown(known as StepRow)
    if (decision.do === 'replay') {
      const { order, at, result } = endedOf(known as StepRow)
      await this.#turns.take(order, this.#parts.signal)
      return { ...result, at }
    }
    const row = known ?? this.#newRow(request, work)
    const { approvalId } = decision.do === 'ask-again' ? waitsOf(row) : {}
    // Before anything is done that must not be done twice, the log knows of it.
    if (!request.repeatable || approvalId !== undefined) await this.#begin(row, known !== undefined)
    const result = await work.execute({ stepId: row.stepId, approvalId })
    this.#parts.signal.throwIfAborted()
    if ('pause' in result) return this.#pause(row, result.pause)
    await this.#turns.all(this.#parts.signal)
    return this.#end(row, result)
  }

  /** Waits until all that happened is written. */
  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing
    await this.#writing
  }

  #newRow({ seq, key, kind }: StepRequest, { request }: StepWork): StepRow {
    const { runId, userId } = this.#parts.run
    return {
      ...{ stepId: newId('step'), userId, runId, seq, key, kind, status: 'started', requestJson: keepable(request) },
      ...{ resultJson: null, startedAt: new Date(), endedAt: null },
    }
  }

  async #begin(row: StepRow, isThere: boolean): Promise<void> {
    await this.#write((tx) => {
      if (!isThere) return tx.insert('steps', row)
      return tx.update('steps', row.stepId, { set: { status: 'started', resultJson: null } })
    })
    this.#bySeq.set(row.seq, row)
  }

  async #end(row: StepRow, given: StepResult): Promise<StepAnswer> {
    const at = Date.now()
    const result = keepable(given) as StepResult
    const kept: Ended = { order: this.#order++, at, result }
    const end = {
      status: 'value' in result ? ('completed' as const) : ('failed' as const),
      ...{ resultJson: kept, endedAt: new Date(at) },
    }
    await this.#put({ ...row, ...end })
    return { ...result, at }
  }

  async #pause(row: StepRow, { approvalId, until }: { approvalId: string; until: Date }): Promise<StepAnswer> {
    const waits: Waits = { approvalId, until: until.getTime() }
    this.#waits.set(row.stepId, waits)
    await this.#put({ ...row, status: 'paused', resultJson: waits })
    return { stands: 'paused' }
  }

  async #unknown(row: StepRow): Promise<StepAnswer> {
    this.#isUnknown = true
    await this.#put({ ...row, status: 'outcome-unknown' })
    return { stands: 'outcome-unknown' }
  }

  /** Whether it was begun before decides whether it is there. */
  async #put(row: StepRow): Promise<void> {
    const { stepId, status, resultJson, endedAt } = row
    const isThere = this.#bySeq.has(row.seq)
    this.#bySeq.set(row.seq, row)
    await this.#write((tx) =>
      isThere ? tx.update('steps', stepId, { set: { status, resultJson, endedAt } }) : tx.insert('steps', row),
    )
  }

  /** What comes while a write is under way goes with the next one, in its order. */
  #write(change: (tx: Transaction) => Promise<unknown>): Promise<void> {
    this.#batch.push(change)
    this.#flushing ??= this.#writing
      .then(() => this.#flush())
      .catch((error: unknown) => {
        this.#parts.onLost()
        throw error
      })
    return this.#flushing
  }

  async #flush(): Promise<void> {
    const changes = this.#batch
    this.#batch = []
    this.#flushing = undefined
    const { storage, run } = this.#parts
    const { userId, runId, leaseOwner } = run
    const written = storage.transaction({ userId }, async (tx) => {
      const ours = { set: { updatedAt: new Date() }, where: { leaseOwner, status: 'running' as const } }
      if (!(await tx.update('runs', runId, ours))) throw new HostError('run-lost')
      for (const change of changes) await change(tx)
    })
    this.#writing = written.catch(() => {})
    await written
  }
}

const hasEnded = ({ status }: StepRow) => status === 'completed' || status === 'failed'
const endedOf = ({ resultJson }: StepRow) => resultJson as Ended
export const waitsOf = ({ resultJson }: StepRow) => (resultJson ?? {}) as Partial<Waits>

/** Lets recorded results out one by one, in their order. */
class Turns {
  readonly #orders: number[]
  readonly #waiting = new Map<number, () => void>()
  #next = 0
  #done: Array<() => void> = []

  constructor(orders: readonly number[]) {
    this.#orders = [...orders].sort((a, b) => a - b)
  }

  get left(): number {
    return this.#orders.length - this.#next
  }

  /** Waits for the turn of one, and gives it to the next a moment later. */
  async take(order: number, signal: AbortSignal): Promise<void> {
    if (this.#orders[this.#next] !== order)
      await waited((wake) => {
        this.#waiting.set(order, wake)
      }, signal)
    this.#next++
    this.#waiting.get(this.#orders[this.#next] ?? -1)?.()
    if (this.left === 0) for (const wake of this.#done.splice(0)) wake()
  }

  /** Waits until all of them are out. */
  async all(signal: AbortSignal): Promise<void> {
    if (this.left > 0) await waited((wake) => this.#done.push(wake), signal)
  }
}

async function waited(listen: (wake: () => void) => void, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stalled = () => reject(new HostError('run-drift', { detail: 'It no longer asks for all that its log has.' }))
  const timer = setTimeout(stalled, STALLED_MS)
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  listen(resolve)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
