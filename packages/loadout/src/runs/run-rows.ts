/** Run and step rows, and their public views. */

import { ERRORS, HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { RunRow, RunToolkits, RunView, StepRow } from '../schema/records/run.ts'
import type { NewRun, ReusedStep, RunEnd } from './engine.ts'
import { isPartsRow } from './parts.ts'
import { beginningOf, outputs, workflowOf } from './redacted-run.ts'
import { stepName, waitsOf } from './step-log.ts'
import { toStorableJson } from './storable-json.ts'

export const FINISHED: ReadonlySet<RunRow['status']> = new Set(['completed', 'failed', 'cancelled'])
/** True if only an external event changes the run. */
export const isSuspended = (status: RunRow['status']) =>
  FINISHED.has(status) || status === 'paused' || status === 'outcome-unknown'

export function newRun({ runId = newId('run'), userId, kind, threadId, workflowVersionId, input }: NewRun): RunRow {
  const now = new Date()
  return {
    runId,
    userId,
    kind,
    threadId: threadId ?? null,
    workflowVersionId: workflowVersionId ?? null,
    status: 'queued',
    inputJson: toStorableJson(input) as JsonObject,
    outputJson: null,
    errorJson: null,
    leaseOwner: null,
    leaseUntil: null,
    createdAt: now,
    updatedAt: now,
  }
}

/** Copies a step of another run into this one. */
export const reuseStep = ({ userId, runId }: RunRow, step: ReusedStep): StepRow => ({
  ...step,
  stepId: newId('step'),
  userId,
  runId,
})

/** Row update at the end of the work; `until` is the deadline of the next scan. */
export function runEnd(end: RunEnd, until: Date | undefined): Partial<RunRow> {
  const { logs = [] } = end
  const usage = 'usage' in end && end.usage ? { usage: end.usage } : {}
  const value = end.status === 'completed' ? { value: end.output } : {}
  return {
    status: end.status,
    leaseOwner: null,
    leaseUntil: until ?? null,
    updatedAt: new Date(),
    outputJson: toStorableJson({ ...value, ...usage, ...(end.toolkits ? { toolkits: end.toolkits } : {}), logs }),
    errorJson: end.status === 'failed' ? errorOf(end.error, end.about) : null,
  }
}

function errorOf({ code, message, action }: HostError, about: JsonObject = {}): JsonObject {
  return toStorableJson({ ...about, code, message, action }) as JsonObject
}

interface Output {
  value?: unknown
  usage?: JsonObject
  logs?: Array<{ level: string; text: string }>
  toolkits?: RunToolkits
}

/** Without `steps` it is a list item. */
export function toRunView(row: RunRow, steps?: readonly StepRow[]): RunView {
  const { value, usage, toolkits, logs = [] } = (row.outputJson ?? {}) as Output
  const stepList = stepViews(
    row.kind,
    (steps ?? []).map((step) => (FINISHED.has(row.status) ? closePending(row, step) : step)),
  )
  return {
    id: row.runId,
    kind: row.kind,
    status: row.status,
    ...(row.threadId === null ? {} : { threadId: row.threadId }),
    ...(row.workflowVersionId === null ? {} : { workflowVersionId: row.workflowVersionId }),
    ...workflowOf(row),
    ...(steps ? beginningOf(row) : {}),
    ...(row.status === 'completed' ? { output: value ?? null } : {}),
    ...(row.errorJson === null ? {} : { error: row.errorJson as RunView['error'] }),
    logs,
    ...(usage === undefined ? {} : { usage }),
    ...toolkits,
    steps: stepList,
    pending: stepList.flatMap(pendingOf),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

function stepViews(kind: RunRow['kind'], steps: readonly StepRow[]): RunView['steps'] {
  const outputOf = outputs()
  const placeOf = ({ key }: StepRow) => (kind === 'program' ? {} : { place: stepName(key) })
  return steps
    .filter((step) => !isPartsRow(step))
    .sort((a, b) => a.seq - b.seq)
    .map((step) => ({ ...stepView(step), ...placeOf(step), ...outputOf(step) }))
}

/** An approval without a tool is named by its path. */
function pendingOf({ approvalId, request, place, kind }: RunView['steps'][number]): RunView['pending'] {
  if (approvalId === undefined) return []
  const { ref } = (request ?? {}) as { ref?: unknown }
  return [{ id: approvalId, ref: typeof ref === 'string' ? ref : `workflow.${place ?? kind}` }]
}

/** A finished run has no pending approvals. */
function closePending({ updatedAt: endedAt }: RunRow, step: StepRow): StepRow {
  if (step.status !== 'paused') return step
  const error = { code: 'cancelled', message: 'The run was over before somebody answered.' }
  return { ...step, status: 'failed', resultJson: { result: { error } }, endedAt }
}

function stepView(step: StepRow): RunView['steps'][number] {
  const { stepId: id, seq, kind, status, requestJson, resultJson, startedAt, endedAt } = step
  const { approvalId } = status === 'paused' ? waitsOf(step) : {}
  const { result } = (status === 'failed' ? resultJson : {}) as {
    result?: { error?: Parameters<typeof toPublicError>[0] }
  }
  return {
    id,
    seq,
    kind,
    status,
    request: requestJson,
    ...(result?.error ? { error: toPublicError(result.error) } : {}),
    ...(approvalId === undefined ? {} : { approvalId }),
    startedAt: startedAt.toISOString(),
    ...(endedAt === null ? {} : { endedAt: endedAt.toISOString() }),
  }
}

export const noRun = () => new HostError('not-found', { detail: 'There is no such run of yours.' })

/** Queued for any process with a free slot. */
export const QUEUED = () => ({ status: 'queued' as const, leaseOwner: null, leaseUntil: null, updatedAt: new Date() })
export const CANCELLED = () => ({
  status: 'cancelled' as const,
  leaseOwner: null,
  leaseUntil: null,
  updatedAt: new Date(),
})

/** Final status of a run, corrected by its log. */
export function finalStatus(log: { isUnknown: boolean; unasked: number }, end: RunEnd): RunEnd {
  if (end.status === 'paused' && log.isUnknown) return { ...end, status: 'outcome-unknown' }
  const isLate = end.status === 'failed' && end.about?.reason === 'time-limit'
  if ((end.status !== 'completed' && !isLate) || log.unasked === 0) return end
  const detail = `It ended without ${log.unasked} of the steps that its log has.`
  return { status: 'failed', error: new HostError('run-drift', { detail }) }
}

/** Public error of a step: message and fix. */
export interface PublicError {
  code: string
  message: string
  action?: string
}

/** An error's own action takes precedence over the default of its code. */
export function toPublicError({ code, message, data }: { code: string; message: string; data?: Json }): PublicError {
  const own = typeof data === 'object' && data !== null && 'action' in data ? data.action : undefined
  const defaultAction = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].action : undefined
  const action = typeof own === 'string' ? own : defaultAction
  return { code, message, ...(action === undefined ? {} : { action }) }
}
