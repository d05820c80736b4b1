/** Rows and views of approval requests, and validation of answers. */

import type { EncryptedCollection } from '../../credentials/rotation.ts'
import { HostError } from '../../errors.ts'
import { newId } from '../../schema/ids.ts'
import { type JsonObject, jsonObject, parse } from '../../schema/json.ts'
import { type ApprovalRow, type ApprovalView, approvalAnswer } from '../../schema/records/approval.ts'
import type { Caller } from '../../schema/toolkit/tool.ts'
import type { Fingerprints } from '../fingerprints.ts'

export interface ApprovalRequest {
  userId: string
  threadId?: string | undefined
  runId?: string | undefined
  callId: string
  ref: string
  /** Redacted arguments. */
  arguments: JsonObject
  /** Unredacted arguments, for validating edits. */
  original: JsonObject
  inputSchema: JsonObject
  reason: string
  caller: Caller
  fingerprints: Fingerprints
  allowEdits: boolean
  allowRemember: boolean
}

export function newApprovalRow(
  request: ApprovalRequest,
  { expireMs, processId }: { expireMs: number; processId: string },
): ApprovalRow {
  const { arguments: argumentsJson, original: _, inputSchema: _schema, ...about } = request
  const { caller, fingerprints, threadId = null, runId = null, ...rest } = about
  const now = Date.now()
  return {
    approvalId: newId('approval'),
    ...rest,
    processId,
    threadId,
    runId,
    argumentsJson,
    callerJson: caller,
    fingerprintsJson: fingerprints,
    status: 'pending',
    answeredBy: null,
    answeredAt: null,
    answerJson: null,
    sealedJson: null,
    expiresAt: new Date(now + expireMs),
    createdAt: new Date(now),
  }
}

/** Stored arguments of a request that may be edited. */
export interface RequestedArguments {
  original: JsonObject
  shown: JsonObject
  inputSchema: JsonObject
}

export const addressOf = ({ userId, approvalId }: ApprovalRow) => ({ userId, toolkit: 'approvals', field: approvalId })

/** Encrypted arguments of pending requests. Answered requests are consumed within moments. */
export const encryptedApprovals: EncryptedCollection = async (tx, page) =>
  (await tx.list('approvals', { ...page, where: { status: 'pending' } })).map((row) => ({
    id: row.approvalId,
    userId: row.userId,
    sealed: row.sealedJson ? { address: addressOf(row), envelope: row.sealedJson } : undefined,
    write: async (writing, wrapping) => {
      const sealedJson = row.sealedJson && { ...row.sealedJson, ...wrapping }
      const change = { set: { sealedJson }, where: { status: 'pending' as const } }
      return (await writing.update('approvals', row.approvalId, change)) !== undefined
    },
  }))

type Remember = NonNullable<ReturnType<typeof approvalAnswer.parse>['remember']>

export function assertMayAnswer(
  row: ApprovalRow,
  { remember, edited }: { remember: Remember | undefined; edited: JsonObject | undefined },
): void {
  const refuse = (path: string, message: string) =>
    new HostError('invalid-input', { detail: `${path} ${message}`, errors: [{ path, message }] })
  if (edited && !row.allowEdits) throw refuse('arguments', 'cannot be changed: the rule that asks does not permit it')
  if (remember && !row.allowRemember) throw refuse('remember', 'is not permitted by the rule that asks')
  if (remember === 'thread' && row.threadId === null)
    throw refuse('remember', 'cannot be "thread": the call has no thread')
}

export function grantOf(row: ApprovalRow, { decision, remember }: { decision: 'allow' | 'deny'; remember: Remember }) {
  const target = remember === 'toolkit' ? ('toolkit' as const) : ('tool' as const)
  return {
    userId: row.userId,
    ...(remember === 'thread' && row.threadId !== null ? { threadId: row.threadId } : {}),
    target,
    ref: target === 'toolkit' ? (row.ref.split('.')[0] as string) : row.ref,
    decision,
    fingerprint: row.fingerprintsJson[target],
  }
}

export const isOpen = ({ status, expiresAt }: ApprovalRow) => status === 'pending' && expiresAt > new Date()

export function late({ status, expiresAt }: ApprovalRow): HostError {
  const expired = status === 'expired' || (status === 'pending' && expiresAt <= new Date())
  return new HostError('conflict', {
    detail: expired ? 'The approval has expired.' : `The approval was ${status} already.`,
    action: expired ? 'Make the call again.' : 'Nothing: the first answer holds.',
  })
}

const isRemember = (value: unknown): value is Remember => value === 'thread' || value === 'tool' || value === 'toolkit'

export function approvalViewOf(row: ApprovalRow): ApprovalView {
  const { approvalId: id, ref, argumentsJson, reason, callerJson, expiresAt, createdAt, callId, threadId } = row
  return {
    id,
    // A request past its expiry time is expired, even if no process marked it.
    status: row.status === 'pending' && !isOpen(row) ? 'expired' : row.status,
    ref,
    arguments: argumentsJson,
    reason,
    caller: callerJson,
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
    callId,
    ...(threadId === null ? {} : { threadId }),
    ...(row.runId === null ? {} : { runId: row.runId }),
    ...(row.answeredAt === null ? {} : { answeredAt: row.answeredAt.toISOString() }),
    ...(isRemember(row.answerJson?.remember) ? { remembered: row.answerJson.remember } : {}),
    allowEdits: row.allowEdits,
    allowRemember: row.allowRemember,
  }
}

/** Address of a request. */
export interface ApprovalAddress {
  userId: string
  id: string
}

export type AnswerInput = [userId: string, id: string, answer: unknown] | [approval: ApprovalAddress, answer: unknown]

export function parseAnswer(args: AnswerInput) {
  const address = args.length === 3 ? { userId: args[0], id: args[1] } : args[0]
  const input = args.length === 3 ? args[2] : args[1]
  const { type, ...rest } = parse(jsonObject, input)
  // `type` is an alias of `decision`; both at once are refused as an unknown field.
  const answer = type === undefined || 'decision' in rest ? input : { ...rest, decision: type }
  return { userId: address.userId, id: address.id, ...parse(approvalAnswer, answer) }
}
