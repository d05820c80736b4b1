/**
 * Step log of one run while this process executes it. Writes succeed only while this process owns the run.
 *
 * Program steps are numbered: results are delivered in the order in which they were stored, also on replay, and new
 * results come after all replayed ones. Workflow steps are named and delivered as soon as requested, because nodes are
 * independent. A program inside a workflow has its own numbers. The steps of a chat answer are named too.
 */

import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { RunRow, StepRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { onAbort } from '../util/abort.ts'
import { decideStep, type StepRequest } from './decide.ts'
import type { RunLog, RunParts, StepOutcome, StepResult, StepWork } from './engine.ts'
import { isPartsRow, partsOf, partsRow, storedParts } from './parts.ts'
import { toStorableJson } from './storable-json.ts'

/** Stored result of an ended step. */
interface Ended {
  /** Order among all results. */
  order: number
  at: number
  result: StepResult
}

/** Stored state of a paused step. */
interface Waits {
  approvalId: string
  until: number
}

export interface StepLogDeps {
  storage: Storage
  run: Pick<RunRow, 'runId' | 'userId' | 'leaseOwner' | 'kind'>
  recorded: readonly StepRow[]
  signal: AbortSignal
  /** Called when this process lost the run. */
  onLost(): void
}

type Address = string | number

export class StepLog implements RunLog {
  readonly #deps: StepLogDeps
  readonly #rows: Map<Address, StepRow>
  readonly #turns: Turns
  readonly #waits = new Map<string, Waits>()
  #order: number
  #nextSeq: number
  #writing: Promise<unknown> = Promise.resolve()
  #batch: Array<(tx: Transaction) => Promise<unknown>> = []
  #flushing: Promise<void> | undefined
  #isUnknown = false
  readonly parts: RunParts

  constructor(deps: StepLogDeps) {
    this.#deps = deps
    const recorded = deps.recorded.filter((row) => !isPartsRow(row))
    const isNamed = deps.run.kind !== 'program'
    this.#rows = new Map(recorded.map((step) => [isNamed ? stepName(step.key) : step.seq, step]))
    const ended = recorded.filter(hasEnded).map((step) => endedOf(step).order)
    this.#turns = new Turns(isNamed ? [] : ended)
    this.#order = Math.max(-1, ...ended) + 1
    this.#nextSeq = deps.recorded.reduce((last, { seq }) => Math.max(last, seq), -1) + 1
    this.parts = this.#createParts(deps.recorded.filter(isPartsRow).sort((a, b) => a.seq - b.seq))
  }

  get recorded(): number {
    return this.#rows.size
  }

  /** Deadline of the first pending approval. */
  get waitsUntil(): Date | undefined {
    const times = [...this.#waits.values()].map(({ until }) => until)
    return times.length === 0 ? undefined : new Date(Math.min(...times))
  }

  /** True if the run has or had pending approvals. */
  get hasAsked(): boolean {
    return this.#waits.size > 0 || this.#deps.recorded.some(({ status }) => status === 'paused')
  }

  get approvals(): string[] {
    return [...this.#waits.values()].map(({ approvalId }) => approvalId)
  }

  get isUnknown(): boolean {
    return this.#isUnknown
  }

  /** Number of recorded results that were not requested. */
  get unasked(): number {
    return this.#turns.left
  }

  step(request: StepRequest, work: StepWork): Promise<StepOutcome> {
    return this.#step(request, work, request.path === undefined ? this.#turns : undefined)
  }

  has(path: string | number): boolean {
    return this.#rows.has(path)
  }

  within(path: string): RunLog {
    const inside = [...this.#rows].filter(([at]) => typeof at === 'string' && at.startsWith(`${path}/`))
    const numbered = inside.filter(([at]) => /^\d+$/.test(String(at).slice(path.length + 1)))
    const ended = numbered.map(([, row]) => row).filter(hasEnded)
    const turns = new Turns(ended.map((row) => endedOf(row).order))
    return {
      recorded: inside.length,
      get unasked() {
        return turns.left
      },
      has: (inner) => this.has(`${path}/${inner}`),
      step: ({ seq, path: inner, ...rest }, work) =>
        this.#step({ ...rest, path: `${path}/${inner ?? seq}` }, work, inner === undefined ? turns : undefined),
      within: (inner) => this.within(`${path}/${inner}`),
    }
  }

  async #step(request: StepRequest, work: StepWork, turns: Turns | undefined): Promise<StepOutcome> {
    const key = request.path === undefined ? request.key : `${request.path} ${request.key}`
    const address = request.path ?? request.seq
    const existing = this.#rows.get(address)
    const decision = decideStep(existing, { ...request, key })
    if (decision.do === 'drift') throw new HostError('run-drift', { detail: decision.detail })
    if (decision.do === 'unknown') return this.#unknown(address, existing as StepRow)
    if (decision.do === 'replay') {
      const { order, at, result } = endedOf(existing as StepRow)
      await turns?.take(order, this.#deps.signal)
      return { ...result, at }
    }
    const row = existing ?? this.#newRow({ ...request, key }, work)
    const { approvalId } = decision.do === 'ask-again' ? waitsOf(row) : {}
    // Log an unrepeatable step before it runs.
    if (!request.repeatable || approvalId !== undefined) await this.#begin(address, row)
    const result = await work.execute({ stepId: row.stepId, approvalId })
    this.#deps.signal.throwIfAborted()
    // A nested step is suspended and already logged.
    if ('suspended' in result) return result
    if ('pause' in result) return this.#pause(address, row, result.pause)
    await turns?.all(this.#deps.signal)
    return this.#end(address, row, result)
  }

  #createParts(rows: readonly StepRow[]): RunParts {
    const { run } = this.#deps
    const stored = rows.flatMap(partsOf)
    let last = stored.at(-1)?.number ?? 0
    const insert = (parts: readonly JsonObject[], discards?: number) => {
      const row = partsRow(run, this.#nextSeq++, { first: last + 1, parts, discards })
      last += parts.length
      return (tx: Transaction) => tx.insert('steps', row)
    }
    return {
      stored,
      append: (parts) => this.#write(insert(parts)),
      discard: async (from, marker) => {
        const changed = rows.flatMap((row) => {
          const parts = partsOf(row)
          return (parts.at(-1)?.number ?? 0) < from ? [] : [{ row, parts: parts.filter(({ number }) => number < from) }]
        })
        const add = insert([marker], from)
        await this.#write(async (tx) => {
          for (const { row, parts } of changed)
            if (parts.length === 0) await tx.delete('steps', row.stepId)
            else await tx.update('steps', row.stepId, { set: { resultJson: toStorableJson(storedParts(parts)) } })
          await add(tx)
        })
      },
    }
  }

  /** Waits until all changes are stored. */
  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing
    await this.#writing
  }

  #newRow({ seq, key, kind }: StepRequest, { request }: StepWork): StepRow {
    const { runId, userId } = this.#deps.run
    return {
      stepId: newId('step'),
      userId,
      runId,
      seq: seq ?? this.#nextSeq++,
      key,
      kind,
      status: 'started',
      requestJson: toStorableJson(request),
      resultJson: null,
      startedAt: new Date(),
      endedAt: null,
    }
  }

  async #begin(address: Address, row: StepRow): Promise<void> {
    const isThere = this.#rows.has(address)
    await this.#write((tx) => {
      if (!isThere) return tx.insert('steps', row)
      return tx.update('steps', row.stepId, { set: { status: 'started', resultJson: null } })
    })
    this.#rows.set(address, row)
  }

  async #end(address: Address, row: StepRow, outcome: StepResult): Promise<StepOutcome> {
    const at = Date.now()
    const result = toStorableJson(outcome) as StepResult
    const ended: Ended = { order: this.#order++, at, result }
    const end = {
      status: 'value' in result ? ('completed' as const) : ('failed' as const),
      resultJson: ended,
      endedAt: new Date(at),
    }
    await this.#put(address, { ...row, ...end })
    return { ...result, at }
  }

  async #pause(address: Address, row: StepRow, { approvalId, until }: { approvalId: string; until: Date }) {
    const waits: Waits = { approvalId, until: until.getTime() }
    this.#waits.set(row.stepId, waits)
    await this.#put(address, { ...row, status: 'paused', resultJson: waits })
    return { suspended: 'paused' as const }
  }

  async #unknown(address: Address, row: StepRow): Promise<StepOutcome> {
    this.#isUnknown = true
    await this.#put(address, { ...row, status: 'outcome-unknown' })
    return { suspended: 'outcome-unknown' }
  }

  /** Inserts the row, or updates it if the step was started before. */
  async #put(address: Address, row: StepRow): Promise<void> {
    const { stepId, status, resultJson, endedAt } = row
    const isThere = this.#rows.has(address)
    this.#rows.set(address, row)
    await this.#write((tx) =>
      isThere ? tx.update('steps', stepId, { set: { status, resultJson, endedAt } }) : tx.insert('steps', row),
    )
  }

  /** Batches changes: those made during a write go with the next one, in order. */
  #write(change: (tx: Transaction) => Promise<unknown>): Promise<void> {
    this.#batch.push(change)
    this.#flushing ??= this.#writing
      .then(() => this.#flush())
      .catch((error: unknown) => {
        this.#deps.onLost()
        throw error
      })
    return this.#flushing
  }

  async #flush(): Promise<void> {
    const changes = this.#batch
    this.#batch = []
    this.#flushing = undefined
    const { storage, run } = this.#deps
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

/** Path of a named step, the first part of its key. */
export const stepName = (key: string) => key.slice(0, key.indexOf(' '))

const hasEnded = ({ status }: StepRow) => status === 'completed' || status === 'failed'
const endedOf = ({ resultJson }: StepRow) => resultJson as Ended
export const waitsOf = ({ resultJson }: StepRow) => (resultJson ?? {}) as Partial<Waits>

/** Releases recorded results one by one, in order. */
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

  /** Waits for the turn of a result, then wakes the next. */
  async take(order: number, signal: AbortSignal): Promise<void> {
    if (this.#orders[this.#next] !== order)
      await waitFor((wake) => {
        this.#waiting.set(order, wake)
      }, signal)
    this.#next++
    this.#waiting.get(this.#orders[this.#next] ?? -1)?.()
    if (this.left === 0) for (const wake of this.#done.splice(0)) wake()
  }

  /** Waits until all recorded results are released. */
  async all(signal: AbortSignal): Promise<void> {
    if (this.left > 0) await waitFor((wake) => this.#done.push(wake), signal)
  }
}

async function waitFor(listen: (wake: () => void) => void, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stopListening = onAbort(signal, () => reject(signal.reason))
  listen(resolve)
  try {
    await promise
  } finally {
    stopListening()
  }
}
