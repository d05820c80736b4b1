/** Runs that nobody works on, whoever's they are. */
import type { RunRow } from '../schema/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { ELSEWHERE, isGivenUp } from './provider-rows.ts'
import { waitsOf } from './step-log.ts'

const caller = 'run-engine'
const PAGE = 100

export interface Left {
  /** Left by processes that are gone, or past its time to wait. */
  freed: RunRow[]
  /** What waits to begin. */
  queued: RunRow[]
  /** Where the next look goes on: many of one user must not hide those behind them. */
  after: string | undefined
}

export function findLeft(
  storage: Storage,
  isLeft: (tx: Transaction, row: RunRow) => Promise<boolean>,
  after?: string | undefined,
): Promise<Left> {
  return storage.transaction({ caller }, async (tx) => {
    const freed: RunRow[] = []
    for (const row of await tx.list('runs', { where: { status: 'running' } }))
      if (row.leaseOwner === ELSEWHERE ? isGivenUp(row) : await isLeft(tx, row)) freed.push(row)
    const late = await tx.list('runs', {
      where: { status: 'paused' },
      between: { field: 'leaseUntil', to: new Date() },
      limit: PAGE,
    })
    freed.push(...late)
    const first = await tx.list('runs', { where: { status: 'queued' }, limit: PAGE })
    const from = [after ?? '', first.at(-1)?.runId ?? ''].sort().at(-1) as string
    const more = { where: { status: 'queued' as const }, after: from, limit: PAGE }
    const next = first.length < PAGE ? [] : await tx.list('runs', more)
    return { freed, queued: [...first, ...next], after: next.length < PAGE ? undefined : next.at(-1)?.runId }
  })
}

/** Of the newest that wait, those whose answer is there: its wake was lost with its process, or could not be written. */
export async function answeredRuns(
  storage: Storage,
  isAnswered: (userId: string, approvalIds: readonly string[]) => Promise<boolean>,
): Promise<RunRow[]> {
  const newest = { where: { status: 'paused' as const }, order: 'desc' as const, limit: PAGE }
  const answered: RunRow[] = []
  for (const row of await storage.transaction({ caller }, (tx) => tx.list('runs', newest))) {
    const { userId, runId } = row
    const where = { userId, runId, status: 'paused' as const }
    const steps = await storage.transaction({ userId }, (tx) => tx.list('steps', { where }))
    const asked = steps.flatMap((step) => waitsOf(step).approvalId ?? [])
    if (asked.length > 0 && (await isAnswered(userId, asked))) answered.push(row)
  }
  return answered
}
