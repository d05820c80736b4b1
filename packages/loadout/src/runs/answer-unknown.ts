/** A person says of a step that nobody knows of how its run goes on. */
import { HostError } from '../errors.ts'
import type { RunRow, StepRow } from '../schema/run.ts'
import type { Transaction } from '../storage/storage.ts'
import { noRun, QUEUED } from './run-rows.ts'

const MOST_STEPS = 100_000

/** The run, once nothing of it is unknown any more: then it waits to go on. */
export async function answerUnknown(
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
  else await tx.update('steps', step.stepId, { set: await takenForFailed(tx, step) })
  const more = await tx.list('steps', { where: { userId, runId, status: 'outcome-unknown' } })
  if (more.length > 0) return undefined
  return tx.update('runs', runId, { set: QUEUED(), where: { status: 'outcome-unknown' } })
}

/** Somebody said that it did not work: the program hears that, behind all that it heard before. */
async function takenForFailed(tx: Transaction, step: StepRow): Promise<Partial<StepRow>> {
  const { userId, runId } = step
  const all = await tx.list('steps', { where: { userId, runId }, limit: MOST_STEPS })
  const orders = all.map(({ resultJson }) => (resultJson as { order?: number } | null)?.order ?? -1)
  const message = 'Nobody knows what came of it; it was taken for failed.'
  const resultJson = {
    order: Math.max(-1, ...orders) + 1,
    at: Date.now(),
    result: { error: { code: 'outcome-unknown', message } },
  }
  return { status: 'failed', resultJson, endedAt: new Date() }
}
