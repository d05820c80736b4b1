/**
 * Settles calls whose process is dead. The result is correct even if that process only seems dead: a call that waited
 * for approval was never made and may be repeated, because it continues only after its row is `running`, and that row
 * is ended here. For any other call, only the server knows whether it happened.
 */
import { HostError } from '../../errors.ts'
import { isAlive } from '../../processes/heartbeat.ts'
import type { CallRow } from '../../schema/records/call.ts'
import type { Transaction } from '../../storage/storage.ts'
import type { CallOutcome } from '../call.ts'
import { outcomeToJson } from './outcome-json.ts'

/** Returns the current row. If its process is dead, stores the final outcome first. */
export async function settleOrphaned(tx: Transaction, row: CallRow, self: string): Promise<CallRow> {
  if (row.finishedAt || row.processId === self || (await isAlive(tx, row.processId))) return row
  const outcome = await orphanOutcome(tx, row)
  const set = { status: outcome.status, outcomeJson: outcomeToJson(outcome), finishedAt: new Date() }
  const settled = await tx.update('calls', row.callId, { set, where: { finishedAt: null } })
  return settled ?? (await tx.get('calls', row.callId)) ?? row
}

/** Whether the call was never made, so that its key is free. */
export function wasNeverMade({ outcomeJson }: CallRow): boolean {
  const { error } = (outcomeJson ?? {}) as { error?: { code?: string } }
  return error?.code === 'call-not-made'
}

async function orphanOutcome(tx: Transaction, { userId, callId, ref, status }: CallRow): Promise<CallOutcome> {
  const answer = await expireApproval(tx, { userId, callId })
  if (answer === 'expired' || (answer === 'allowed' && status === 'pending'))
    return failed(
      'call-not-made',
      `The process in which '${ref}' waited for its approval is gone; it was never called.`,
    )
  if (answer === 'denied')
    return {
      status: 'denied',
      error: new HostError('denied', { detail: `The call of '${ref}' is denied. You denied it.` }),
    }
  return failed('outcome-unknown', `The process that called '${ref}' is gone, and what came of it with it.`)
}

/** Expires the pending approval of a call. Returns its status, or undefined if there is none. */
async function expireApproval(tx: Transaction, call: { userId: string; callId: string }) {
  const [approval] = await tx.list('approvals', { where: call, order: 'desc', limit: 1 })
  if (!approval) return undefined
  const ended = await tx.update('approvals', approval.approvalId, {
    set: { status: 'expired', sealedJson: null },
    where: { status: 'pending' },
  })
  return (ended ?? (await tx.get('approvals', approval.approvalId)))?.status
}

const failed = (code: 'call-not-made' | 'outcome-unknown', detail: string): CallOutcome => ({
  status: 'failed',
  error: new HostError(code, { detail }),
})
