/** Reads runs of one user and waits for them. Runs of other users are reported as not found. */

import type { RunRow, RunView, StepRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import type { RowChanges } from '../storage/watch-row.ts'
import { onAbort } from '../util/abort.ts'
import type { Engine } from './engine.ts'
import { isSuspended, noRun, toRunView } from './run-rows.ts'

/** Max wait between two reads, in case a change event is lost. */
const WAIT_MS = 1000
const PAGE = 100
const MAX_STEPS = 100_000
const MAX_VERSIONS = 100

export interface RunWaitOptions {
  signal?: AbortSignal | undefined
  /** True if the process is closing. */
  isOver(): boolean
  /** Resolves when the local work ends; undefined if another process executes the run. */
  working(): Promise<unknown> | undefined
}

export interface ReaderDeps {
  storage: Storage
  /** Derives map progress from the log, for single-run views. */
  progressOf?: ((row: RunRow, steps: readonly StepRow[]) => Promise<Pick<RunView, 'progress'>>) | undefined
}

export class RunReader {
  readonly #deps: ReaderDeps
  readonly #storage: Storage
  readonly #changes: Pick<RowChanges, 'next'>

  constructor(deps: ReaderDeps, changes: Pick<RowChanges, 'next'>) {
    this.#deps = deps
    this.#storage = deps.storage
    this.#changes = changes
  }

  read(userId: string, runId: string): Promise<{ row: RunRow; steps: StepRow[] }> {
    return this.#storage.transaction({ userId }, async (tx) => {
      const row = await tx.get('runs', runId)
      if (!row) throw noRun()
      return { row, steps: await tx.list('steps', { where: { userId, runId }, limit: MAX_STEPS }) }
    })
  }

  async get(userId: string, runId: string): Promise<RunView> {
    const { row, steps } = await this.read(userId, runId)
    return { ...toRunView(row, steps), ...(await this.#deps.progressOf?.(row, steps)) }
  }

  async list(userId: string, page: Parameters<Engine['list']>[1] = {}): Promise<RunView[]> {
    const { cursor: after, limit = PAGE, threadId, workflowId } = page
    const where = { userId, ...(threadId === undefined ? {} : { threadId }) }
    const query = { where, order: 'desc' as const, limit, ...(after === undefined ? {} : { after }) }
    const rows = await this.#storage.transaction({ userId }, (tx) =>
      workflowId === undefined ? withoutAnswers(tx, query) : ofWorkflow(tx, workflowId, query),
    )
    return rows.map((row) => toRunView(row))
  }

  async settled(userId: string, runId: string, { signal, isOver, working }: RunWaitOptions): Promise<RunView> {
    const isEnough = () => signal?.aborted || isOver()
    for (;;) {
      const work = working()
      if (work) await orAborted(work, signal)
      const stop = new AbortController()
      // Subscribe before reading, so that no change is missed.
      const changed = this.#changes.next(runId, WAIT_MS, signal ? AbortSignal.any([signal, stop.signal]) : stop.signal)
      try {
        // Steps are expensive to read: read them once, when the run has probably settled.
        const isLikely = work !== undefined || isEnough() || isSuspended((await this.#row(userId, runId)).status)
        const view = isLikely ? await this.get(userId, runId) : undefined
        // The run may have been woken between the two reads.
        if (view && (isSuspended(view.status) || isEnough())) return view
        await changed
      } finally {
        stop.abort()
      }
    }
  }

  async #row(userId: string, runId: string): Promise<RunRow> {
    const row = await this.#storage.transaction({ userId }, (tx) => tx.get('runs', runId))
    if (!row) throw noRun()
    return row
  }
}

/** Resolves when the work ends or the signal aborts. */
async function orAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stopListening = onAbort(signal, resolve)
  await Promise.race([promise, work])
  stopListening()
}

interface RunQuery {
  where: Partial<RunRow> & { userId: string }
  order: 'desc'
  limit: number
  after?: string
}

/** Chat answers are read by their thread. */
async function withoutAnswers(tx: Transaction, query: RunQuery): Promise<RunRow[]> {
  const found: RunRow[] = []
  for (const kind of ['program', 'workflow'] as const)
    found.push(...(await tx.list('runs', { ...query, where: { ...query.where, kind } })))
  return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, query.limit)
}

/** A run row names its version, so the runs of the latest versions are merged. */
async function ofWorkflow(tx: Transaction, workflowId: string, query: RunQuery): Promise<RunRow[]> {
  const { userId } = query.where
  const versions = { where: { userId, workflowId }, order: 'desc' as const, limit: MAX_VERSIONS }
  const found: RunRow[] = []
  for (const { workflowVersionId } of await tx.list('workflowVersions', versions))
    found.push(...(await tx.list('runs', { ...query, where: { ...query.where, workflowVersionId } })))
  return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, query.limit)
}
