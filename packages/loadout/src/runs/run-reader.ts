/** Runs as their users look at them, and wait for them. Another's run does not exist. */

import type { RunRow, RunView, StepRow } from '../schema/records/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import type { RowChanges } from '../storage/watch-row.ts'
import type { Engine } from './engine.ts'
import { isSuspended, noRun, viewOf } from './run-rows.ts'

/** While changes may be missed, nobody waits longer. */
const WAIT_MS = 1000
const PAGE = 100
const MAX_STEPS = 100_000
const MAX_VERSIONS = 100

export interface WaitOptions {
  signal?: AbortSignal | undefined
  /** Whether nobody waits here any more. */
  isOver(): boolean
  /** Until the work on it is over, where that is done here: it settles by nothing else, and its row need not be looked at. */
  working(): Promise<unknown> | undefined
}

export interface ReaderDeps {
  storage: Storage
  /** What is worked out of a run's log, for who looks at one. */
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
    return { ...viewOf(row, steps), ...(await this.#deps.progressOf?.(row, steps)) }
  }

  async list(userId: string, page: Parameters<Engine['list']>[1] = {}): Promise<RunView[]> {
    const { cursor: after, limit = PAGE, threadId, workflowId } = page
    const where = { userId, ...(threadId === undefined ? {} : { threadId }) }
    const query = { where, order: 'desc' as const, limit, ...(after === undefined ? {} : { after }) }
    const rows = await this.#storage.transaction({ userId }, (tx) =>
      workflowId === undefined ? tx.list('runs', query) : ofWorkflow(tx, workflowId, query),
    )
    return rows.map((row) => viewOf(row))
  }

  async settled(userId: string, runId: string, { signal, isOver, working }: WaitOptions): Promise<RunView> {
    const isEnough = () => signal?.aborted || isOver()
    for (;;) {
      const work = working()
      if (work) await orAborted(work, signal)
      const stop = new AbortController()
      // From before the look on, so that no change falls between.
      const changed = this.#changes.next(runId, WAIT_MS, signal ? AbortSignal.any([signal, stop.signal]) : stop.signal)
      try {
        // Its steps are many, and read once: at once where it has just settled here.
        const isLikely = work !== undefined || isEnough() || isSuspended((await this.#row(userId, runId)).status)
        const view = isLikely ? await this.get(userId, runId) : undefined
        // It may have been woken between the two.
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

/** Until it is over, or nobody waits for it any more. */
async function orAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = () => resolve()
  signal?.addEventListener('abort', stop, { once: true })
  await Promise.race([work, promise])
  signal?.removeEventListener('abort', stop)
}

interface RunQuery {
  where: Partial<RunRow> & { userId: string }
  order: 'desc'
  limit: number
  after?: string
}

/** A run names the version that it is of: those of the latest versions, together in their order. */
async function ofWorkflow(tx: Transaction, workflowId: string, query: RunQuery): Promise<RunRow[]> {
  const { userId } = query.where
  const versions = { where: { userId, workflowId }, order: 'desc' as const, limit: MAX_VERSIONS }
  const found: RunRow[] = []
  for (const { workflowVersionId } of await tx.list('workflowVersions', versions))
    found.push(...(await tx.list('runs', { ...query, where: { ...query.where, workflowVersionId } })))
  return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, query.limit)
}
