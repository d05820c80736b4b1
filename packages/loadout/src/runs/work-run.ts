/** Works on a run that is ours until it is over or stands, and writes that down as long as it still is. */
import { HostError } from '../errors.ts'
import type { RunRow, StepRow } from '../schema/run.ts'
import type { Storage } from '../storage/storage.ts'
import type { RunEnd, RunWork } from './engine.ts'
import { CANCELLED, endOf, OVER, QUEUED, toldBy } from './run-rows.ts'
import { StepLog } from './step-log.ts'

export interface WorkParts {
  storage: Storage
  /** What runs of a kind do. */
  works: Partial<Record<RunRow['kind'], RunWork>>
  /** Whether one of these questions has its answer by now. */
  isAnswered(userId: string, approvalIds: readonly string[]): Promise<boolean>
  /** It is over: what it waits for is of no use any more. */
  onOver?: ((userId: string, runId: string) => Promise<void>) | undefined
}

export interface Claimed {
  row: RunRow
  controller: AbortController
}

export interface WorkedOn {
  /** Nothing changes it any more. */
  isOver: boolean
  /** It is to be woken at once: it waits, and has its answer. */
  isAnswered: boolean
}

export async function workOn(parts: WorkParts, claimed: Claimed, recorded: readonly StepRow[]): Promise<WorkedOn> {
  const { row, controller } = claimed
  const { signal } = controller
  const onLost = () => controller.abort(new HostError('run-lost'))
  const log = new StepLog({ storage: parts.storage, run: row, recorded, signal, onLost })
  const { runId, userId, inputJson: input, createdAt: startedAt } = row
  const about = { threadId: row.threadId ?? undefined, workflowVersionId: row.workflowVersionId ?? undefined }
  const work = parts.works[row.kind] as RunWork
  // Given up before it began: it does not begin.
  const end = signal.aborted
    ? failedBy(signal.reason)
    : await work({ runId, userId, ...about, input, startedAt, signal, log }).catch(failedBy)
  await log.flush().catch(() => {})
  return endRun(parts, log, { row, end, signal })
}

interface Ending {
  row: RunRow
  end: RunEnd
  signal: AbortSignal
}

async function endRun(parts: WorkParts, log: StepLog, { row, end, signal }: Ending): Promise<WorkedOn> {
  const { userId, runId, leaseOwner } = row
  const code = HostError.is(signal.reason) ? signal.reason.code : undefined
  // Somebody else has it, or it was cancelled: nothing of this counts.
  if (signal.aborted && code === 'run-lost') return { isOver: false, isAnswered: false }
  const isHandedOn = signal.aborted && code === 'shutting-down'
  const told = signal.aborted ? CANCELLED() : endOf(toldBy(log, end), log.waitsUntil)
  const set = isHandedOn ? QUEUED() : { ...told, ...(OVER.has(told.status ?? 'running') ? withoutToolkits(row) : {}) }
  const change = { set, where: { leaseOwner, status: 'running' as const } }
  const ended = await parts.storage.transaction({ userId }, (tx) => tx.update('runs', runId, change))
  // Nobody comes back for an answer to what is over, nor for what it brought.
  const isHeld = log.hasAsked || row.inputJson.transports !== undefined
  const isOver = ended !== undefined && OVER.has(ended.status)
  if (isOver && isHeld) await parts.onOver?.(userId, runId)
  // An answer that came before the row said that it waits has woken nobody.
  return { isOver, isAnswered: ended?.status === 'paused' && (await parts.isAnswered(userId, log.approvals)) }
}

/** What the call of a workflow brought is gone with its run, and its secrets in the same moment. */
function withoutToolkits({ kind, inputJson }: RunRow): Partial<RunRow> {
  if (kind !== 'workflow' || inputJson.toolkits === undefined) return {}
  const { toolkits: _, ...rest } = inputJson
  return { inputJson: rest }
}

const failedBy = (error: unknown): RunEnd => ({ status: 'failed', error: HostError.from(error) })
