import type { StepRow } from '../schema/run.ts'
import type { Transaction } from '../storage/storage.ts'

const MOST_STEPS = 100_000

/** Somebody said that it did not work: the program hears that, behind all that it heard before. */
export async function takenForFailed(tx: Transaction, step: StepRow): Promise<Partial<StepRow>> {
  const { userId, runId } = step
  const all = await tx.list('steps', { where: { userId, runId }, limit: MOST_STEPS })
  const orders = all.map(({ resultJson }) => (resultJson as { order?: number } | null)?.order ?? -1)
  const message = 'Nobody knows what came of it; it was taken for failed.'
  const resultJson = {
    ...{ order: Math.max(-1, ...orders) + 1, at: Date.now() },
    result: { error: { code: 'outcome-unknown', message } },
  }
  return { status: 'failed', resultJson, endedAt: new Date() }
}
