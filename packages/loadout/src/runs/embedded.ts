/**
 * Run engine over any storage. A row names the process that owns a run (`processes/heartbeat.ts`); every process takes
 * orphaned runs at its start, on row changes and periodically.
 */

import { HostError } from '../errors.ts'
import { isAlive } from '../processes/heartbeat.ts'
import type { RunRow, RunView, StepRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { createRowChanges, type RowChanges } from '../storage/watch-row.ts'
import { onAbort } from '../util/abort.ts'
import { type Claim, type ClaimDeps, Claims, findOrphaned, findResumable } from './claims.ts'
import type { Engine, NewRun, RunEnd, RunWork } from './engine.ts'
import { abandonedResult, EXTERNAL_OWNER } from './provider/provider-rows.ts'
import { type ReaderDeps, RunReader } from './run-reader.ts'
import { CANCELLED, FINISHED, finalStatus, newRun, noRun, QUEUED, reuseStep, runEnd, toRunView } from './run-rows.ts'
import { StepLog } from './step-log.ts'

export interface EmbeddedDeps extends WorkDeps, ClaimDeps, ReaderDeps {
  /** Max concurrent runs of this process, of all users. @default 24 */
  atOnce?: number | undefined
  /** Interval of scans for orphaned runs, in ms. @default 10_000 */
  lookMs?: number | undefined
}

const AT_ONCE = 24
const LOOK_MS = 10_000
/** Steps change the row too, so checks of one run are debounced. */
const CHECK_MS = 100
/** Answers wake runs directly; lost wake-ups are searched for on every third scan. */
const LOOKS_AT_PAUSED = 3

export function createEmbeddedEngine(deps: EmbeddedDeps): Engine {
  return new EmbeddedEngine(deps)
}

interface Active extends Claim {
  controller: AbortController
  done: Promise<void>
  /** Resolves when the run is aborted; its status no longer depends on its work. */
  stopped: Promise<void>
  /** The run is finished. */
  isOver?: boolean
  /** A check of the row is scheduled. */
  looking?: boolean
  /** The run was queued again while it was ending here. */
  again?: boolean
}

class EmbeddedEngine implements Engine {
  readonly name = 'embedded'
  readonly #deps: EmbeddedDeps
  readonly #active = new Map<string, Active>()
  readonly #claims: Claims
  readonly #changes: RowChanges
  readonly #reader: RunReader
  readonly #starting = new Set<string>()
  /** Recently checked runs of other processes, with whether they changed since. */
  readonly #elsewhere = new Map<string, boolean>()
  /** Runs may have been skipped for lack of slots. */
  #hasLeft = false
  #timer: ReturnType<typeof setInterval> | undefined
  #looking: Promise<void> | undefined
  #isClosed = false
  #looks = 0
  #after: string | undefined

  constructor(deps: EmbeddedDeps) {
    this.#deps = deps
    this.#claims = new Claims(deps, deps.atOnce ?? AT_ONCE, () => void this.#serve().catch(() => {}))
    this.#changes = createRowChanges(deps.storage, 'runs', ({ userId, id }) => this.#changed(userId, id))
    this.#reader = new RunReader(deps, this.#changes)
  }

  async start(run: NewRun): Promise<RunView> {
    if (this.#isClosed) throw new HostError('shutting-down')
    const fresh = newRun(run)
    const steps = (run.steps ?? []).map((step) => reuseStep(fresh, step))
    const claim = await this.#claims.make(fresh, run.isInside === true)
    const { row } = claim ?? { row: fresh }
    // Ignore our own change event for this run.
    this.#starting.add(row.runId)
    try {
      await this.#user(row.userId, async (tx) => {
        await tx.insert('runs', row)
        if (steps.length > 0) await tx.insertAll('steps', steps)
      })
      if (claim) this.#begin(claim, steps, run.signal)
      else this.#claims.wait(row)
      return toRunView(row, steps)
    } catch (error) {
      this.#claims.done(row.runId)
      claim?.release()
      throw error
    } finally {
      this.#starting.delete(row.runId)
    }
  }

  get(userId: string, runId: string): Promise<RunView> {
    return this.#reader.get(userId, runId)
  }

  list(userId: string, page?: Parameters<Engine['list']>[1]): Promise<RunView[]> {
    return this.#reader.list(userId, page)
  }

  settled(userId: string, runId: string, options?: Parameters<Engine['settled']>[2]): Promise<RunView> {
    const working = () => {
      const active = this.#active.get(runId)
      return active?.row.userId === userId ? Promise.race([active.done, active.stopped]) : undefined
    }
    return this.#reader.settled(userId, runId, { ...options, working, isOver: () => this.#isClosed })
  }

  async wake(userId: string, runId: string): Promise<void> {
    const queued = { set: QUEUED(), where: { status: 'paused' as const } }
    const row = await this.#user(userId, (tx) => tx.update('runs', runId, queued))
    if (row) await this.#take(row)
  }

  async cancel(userId: string, runId: string): Promise<RunView> {
    await cancelRun(this.#deps.storage, { userId, runId })
    this.#active.get(runId)?.controller.abort(new HostError('cancelled'))
    await this.#deps.onOver?.(userId, runId)
    return this.get(userId, runId)
  }

  async resolve(userId: string, runId: string, answer: Parameters<Engine['resolve']>[2]): Promise<RunView> {
    const row = await this.#user(userId, (tx) => resolveUnknownStep(tx, { userId, runId }, answer))
    if (row) await this.#take(row)
    return this.get(userId, runId)
  }

  serve(kind: RunRow['kind'], work: RunWork): void {
    this.#deps.works[kind] = work
    if (this.#timer !== undefined) void this.#look().catch(() => {})
  }

  async open(): Promise<void> {
    await this.#changes.open()
    this.#timer ??= setInterval(() => void this.#look().catch(() => {}), this.#deps.lookMs ?? LOOK_MS)
    if (typeof this.#timer === 'object' && 'unref' in this.#timer) this.#timer.unref()
    await this.#look()
  }

  users(): string[] {
    return [...new Set([...this.#active.values()].map(({ row }) => row.userId))]
  }

  async forget(userId: string): Promise<void> {
    const own = [...this.#active.values()].filter(({ row }) => row.userId === userId)
    for (const { controller } of own) controller.abort(new HostError('cancelled'))
    await Promise.all(own.map(({ done }) => done))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#changes.close()
    for (const { controller } of this.#active.values()) controller.abort(new HostError('shutting-down'))
    await Promise.all([...this.#active.values()].map(({ done }) => done))
    await this.#looking?.catch(() => {})
  }

  #user<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#deps.storage.transaction({ userId }, work)
  }

  /** Handles a row change from any process. */
  #changed(userId: string, runId: string): void {
    const active = this.#active.get(runId)
    // The owner checks whether the run was cancelled or taken over.
    if (active) this.#checkSoon(active)
    else if (this.#starting.has(runId)) return
    else if (!this.#claims.hasRoom(userId)) this.#hasLeft = true
    else if (this.#elsewhere.has(runId)) this.#elsewhere.set(runId, true)
    else if (!this.#isClosed)
      void this.#user(userId, (tx) => tx.get('runs', runId))
        .then((row) => (row?.status === 'running' ? this.#leave(row) : row && this.#take(row)))
        .catch(() => {})
  }

  /** Debounces row changes of runs that other processes execute. */
  #leave({ userId, runId }: RunRow): void {
    this.#elsewhere.set(runId, false)
    soon(() => {
      const hasChanged = this.#elsewhere.get(runId)
      this.#elsewhere.delete(runId)
      if (hasChanged) this.#changed(userId, runId)
    })
  }

  #checkSoon(active: Active): void {
    if (active.looking) return
    active.looking = true
    soon(() => {
      active.looking = false
      const { userId, runId } = active.row
      if (this.#active.get(runId) === active) void this.#check(active).catch(() => {})
      else if (!active.isOver) this.#changed(userId, runId)
    })
  }

  async #check({ row, controller }: Active): Promise<void> {
    const now = await this.#user(row.userId, (tx) => tx.get('runs', row.runId))
    if (now?.status === 'cancelled') controller.abort(new HostError('cancelled'))
    else if (now?.leaseOwner !== row.leaseOwner) controller.abort(new HostError('run-lost'))
  }

  /** Claims and starts a queued run. */
  async #take(row: RunRow): Promise<void> {
    if (this.#isClosed || row.status !== 'queued' || row.leaseOwner !== null || !this.#deps.works[row.kind]) return
    const active = this.#active.get(row.runId)
    if (active) {
      active.again = true
      return
    }
    const claim = await this.#claims.claim(row)
    if (!claim) return
    try {
      const { steps } = await this.#reader.read(row.userId, row.runId)
      this.#begin(claim, steps, undefined)
    } catch (error) {
      this.#claims.done(row.runId)
      claim.release()
      throw error
    }
  }

  #begin({ row, release: leave }: Claim, steps: readonly StepRow[], signal: AbortSignal | undefined): void {
    const controller = new AbortController()
    const stop = () => controller.abort(signal?.reason ?? new HostError('cancelled'))
    const stopListening = onAbort(signal, stop)
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    onAbort(controller.signal, resolve)
    const active: Active = { row, release: leave, controller, done: Promise.resolve(), stopped }
    this.#active.set(row.runId, active)
    this.#claims.done(row.runId)
    active.done = executeRun(this.#deps, active, steps)
      .then(({ isOver, hasAnswer }) => {
        active.isOver = isOver
        return hasAnswer ? this.wake(row.userId, row.runId) : undefined
      })
      .catch(() => {})
      .finally(() => {
        stopListening()
        this.#active.delete(row.runId)
        leave()
        if (active.again) this.#changed(row.userId, row.runId)
      })
  }

  /** A slot is free: starts waiting runs. */
  async #serve(): Promise<void> {
    for (let next = this.#claims.next(); next && !this.#isClosed; next = this.#claims.next()) {
      const { userId, runId } = next
      const row = await this.#user(userId, (tx) => tx.get('runs', runId))
      if (row) await this.#take(row)
    }
    if (this.#isClosed || !this.#hasLeft) return
    this.#hasLeft = false
    await this.#look()
  }

  /** Scans for orphaned, queued and overdue runs; one scan at a time. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookAround().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** True if the owner process is dead, or if this process owns the row but does not execute the run. */
  async #isLeft(tx: Transaction, { runId, leaseOwner }: RunRow): Promise<boolean> {
    if (leaseOwner === this.#deps.presence.processId) return !this.#active.has(runId) && !this.#claims.isUnderWay(runId)
    return !(leaseOwner && (await isAlive(tx, leaseOwner)))
  }

  async #lookAround(): Promise<void> {
    const { storage } = this.#deps
    const { queued, freed, after } = await findOrphaned(storage, (tx, row) => this.#isLeft(tx, row), this.#after)
    this.#after = after
    for (const { runId, userId, status, leaseOwner } of freed) {
      const set = leaseOwner === EXTERNAL_OWNER ? abandonedResult() : QUEUED()
      const row = await this.#user(userId, (tx) => tx.update('runs', runId, { set, where: { status, leaseOwner } }))
      if (row?.status === 'queued') queued.push(row)
    }
    for (const row of queued) await this.#take(row)
    if (this.#looks++ % LOOKS_AT_PAUSED !== 0) return
    for (const { userId, runId } of await findResumable(storage, this.#deps.hasAnswer)) await this.wake(userId, runId)
  }
}

function soon(work: () => void): void {
  const timer: { unref?: () => void } | number = setTimeout(work, CHECK_MS)
  if (typeof timer === 'object') timer.unref?.()
}

/** Dependencies of `executeRun`, which executes an owned run and stores its end while this process owns it. */
export interface WorkDeps {
  storage: Storage
  /** Work by run kind. */
  works: Partial<Record<RunRow['kind'], RunWork>>
  /** True if one of these approvals has an answer. */
  hasAnswer(userId: string, approvalIds: readonly string[]): Promise<boolean>
  /** Called when a run ends, to withdraw approvals and release transports. */
  onOver?: ((userId: string, runId: string) => Promise<void>) | undefined
}

export interface ClaimedRun {
  row: RunRow
  controller: AbortController
}

export interface WorkResult {
  /** The run is finished. */
  isOver: boolean
  /** The run paused and already has an answer: wake it at once. */
  hasAnswer: boolean
}

export async function executeRun(
  deps: WorkDeps,
  claimed: ClaimedRun,
  recorded: readonly StepRow[],
): Promise<WorkResult> {
  const { row, controller } = claimed
  const { signal } = controller
  const onLost = () => controller.abort(new HostError('run-lost'))
  const log = new StepLog({ storage: deps.storage, run: row, recorded, signal, onLost })
  const { runId, userId, inputJson: input, createdAt: startedAt } = row
  const about = { threadId: row.threadId ?? undefined, workflowVersionId: row.workflowVersionId ?? undefined }
  const work = deps.works[row.kind] as RunWork
  // A run that is aborted before its start does not start.
  const end = signal.aborted
    ? failedBy(signal.reason)
    : await work({ runId, userId, ...about, input, startedAt, signal, log, parts: log.parts }).catch(failedBy)
  await log.flush().catch(() => {})
  return endRun(deps, log, { row, end, signal })
}

interface Ending {
  row: RunRow
  end: RunEnd
  signal: AbortSignal
}

async function endRun(deps: WorkDeps, log: StepLog, { row, end, signal }: Ending): Promise<WorkResult> {
  const { userId, runId, leaseOwner } = row
  const code = HostError.is(signal.reason) ? signal.reason.code : undefined
  // Another process owns the run, so this result is discarded.
  if (signal.aborted && code === 'run-lost') return { isOver: false, hasAnswer: false }
  const isHandedOn = signal.aborted && code === 'shutting-down'
  const result = signal.aborted ? CANCELLED() : runEnd(finalStatus(log, end), log.waitsUntil)
  const set = isHandedOn
    ? QUEUED()
    : { ...result, ...(FINISHED.has(result.status ?? 'running') ? withoutToolkits(row) : {}) }
  const change = { set, where: { leaseOwner, status: 'running' as const } }
  const ended = await deps.storage.transaction({ userId }, (tx) => tx.update('runs', runId, change))
  // A finished run needs neither its approvals nor its transports.
  const needsCleanup = log.hasAsked || row.inputJson.transports !== undefined
  const isOver = ended !== undefined && FINISHED.has(ended.status)
  if (isOver && needsCleanup) await deps.onOver?.(userId, runId)
  // An answer that arrived before the row was paused woke nobody.
  return { isOver, hasAnswer: ended?.status === 'paused' && (await deps.hasAnswer(userId, log.approvals)) }
}

/** Removes the inline toolkits and their secrets in the update that ends the run. */
function withoutToolkits({ kind, inputJson }: RunRow): Partial<RunRow> {
  if (kind !== 'workflow' || inputJson.toolkits === undefined) return {}
  const { toolkits: _, ...rest } = inputJson
  return { inputJson: rest }
}

const failedBy = (error: unknown): RunEnd => ({ status: 'failed', error: HostError.from(error) })

/** Cancels a run. A lost race is retried, because the winner may have finished the run. */
export async function cancelRun(storage: Storage, { userId, runId }: Pick<RunRow, 'userId' | 'runId'>): Promise<void> {
  for (;;) {
    const isCancelled = await storage.transaction({ userId }, async (tx) => {
      const row = await tx.get('runs', runId)
      if (!row) throw noRun()
      if (FINISHED.has(row.status))
        throw new HostError('conflict', { detail: `The run is ${row.status} already.`, action: 'Nothing: it is over.' })
      return tx.update('runs', runId, { set: CANCELLED(), where: { status: row.status } })
    })
    if (isCancelled) return
  }
}

const MAX_STEPS = 100_000

/**
 * Resolves a step with an unknown outcome by a user's decision. Returns the queued run when no unknown step is left.
 */
export async function resolveUnknownStep(
  tx: Transaction,
  { userId, runId }: Pick<RunRow, 'userId' | 'runId'>,
  { stepId, decision }: { stepId: string; decision: 'repeat' | 'fail' },
): Promise<RunRow | undefined> {
  if (!(await tx.get('runs', runId))) throw noRun()
  const step = await tx.get('steps', stepId)
  if (step?.runId !== runId || step.status !== 'outcome-unknown')
    throw new HostError('conflict', {
      detail: 'That step does not wait for this.',
      action: 'Look at the run: only a step that stands at outcome-unknown is decided.',
    })
  if (decision === 'repeat') await tx.delete('steps', step.stepId)
  else await tx.update('steps', step.stepId, { set: await markedAsFailed(tx, step) })
  const more = await tx.list('steps', { where: { userId, runId, status: 'outcome-unknown' } })
  if (more.length > 0) return undefined
  return tx.update('runs', runId, { set: QUEUED(), where: { status: 'outcome-unknown' } })
}

/** Marks a step as failed, ordered after all recorded results. */
async function markedAsFailed(tx: Transaction, step: StepRow): Promise<Partial<StepRow>> {
  const { userId, runId } = step
  const steps = await tx.list('steps', { where: { userId, runId }, limit: MAX_STEPS })
  const orders = steps.map(({ resultJson }) => (resultJson as { order?: number } | null)?.order ?? -1)
  const message = 'Nobody knows what came of it; it was taken for failed.'
  const resultJson = {
    order: Math.max(-1, ...orders) + 1,
    at: Date.now(),
    result: { error: { code: 'outcome-unknown', message } },
  }
  return { status: 'failed', resultJson, endedAt: new Date() }
}
