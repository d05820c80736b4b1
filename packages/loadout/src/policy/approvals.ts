/**
 * Questions to a user about a call, stored. They can be answered from any process: the one in which the call waits hears of
 * the answer through the storage and goes on. An answer is given once; unanswered, a question expires, and that denies. With
 * the process gone in which the call waits, nothing would come of an answer: such a question has expired too.
 */
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { type ApprovalRow, type ApprovalView, approvalAnswer } from '../schema/approval.ts'
import { newId } from '../schema/ids.ts'
import { type JsonObject, parse } from '../schema/json.ts'
import type { Caller } from '../schema/tool.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import type { Fingerprints } from './fingerprints.ts'
import type { Grants } from './grants.ts'
import { isAlive, type Presence } from './presence.ts'
import { type Answer, createWaiting } from './waiting.ts'

export interface ApprovalRequest {
  userId: string
  threadId?: string | undefined
  runId?: string | undefined
  callId: string
  ref: string
  /** Masked already. */
  arguments: JsonObject
  reason: string
  caller: Caller
  fingerprints: Fingerprints
  allowEdits: boolean
  allowRemember: boolean
}

export interface Approvals {
  /** Stores the question. `answered` settles with the answer, from whichever process it comes. */
  ask(request: ApprovalRequest, signal?: AbortSignal): Promise<{ approval: ApprovalView; answered: Promise<Answer> }>
  list(userId: string, filter?: { status?: ApprovalRow['status'] }): Promise<ApprovalView[]>
  get(userId: string, id: string): Promise<ApprovalView>
  /** `conflict` where it was answered or has expired. */
  answer(userId: string, id: string, answer: unknown): Promise<ApprovalView>
  close(): void
}

export interface ApprovalParts {
  storage: Storage
  events: Emitter
  grants: Pick<Grants, 'add'>
  /** This process, in which calls wait. */
  presence: Presence
  /** How long a question stays open. @default 600_000 */
  expireMs?: number | undefined
}

const EXPIRE_MS = 600_000
const MAX_PENDING = 100
const LIST_LIMIT = 1000

export function createApprovals(parts: ApprovalParts): Approvals {
  return new StoredApprovals(parts)
}

class StoredApprovals implements Approvals {
  readonly #parts: ApprovalParts
  readonly #waiting

  constructor(parts: ApprovalParts) {
    this.#parts = parts
    this.#waiting = createWaiting(parts.storage, (userId, id) => this.#settled(userId, id))
  }

  async ask(request: ApprovalRequest, signal?: AbortSignal) {
    const { events, presence, expireMs = EXPIRE_MS } = this.#parts
    const row = newRow(request, { expireMs, processId: presence.processId })
    const letGo = await presence.hold()
    await this.#insert(row).catch((error: unknown) => {
      letGo()
      throw error
    })
    const { userId, approvalId } = row
    const answered = this.#waiting.wait({ userId, id: approvalId, until: row.expiresAt, signal })
    const approval = viewOf(row)
    events.emit({ type: 'approval-requested', userId, approvalId, callId: row.callId, ref: row.ref })
    return { approval, answered: answered.then((answer) => answer ?? this.#expire(row)).finally(letGo) }
  }

  async list(userId: string, { status }: { status?: ApprovalRow['status'] } = {}): Promise<ApprovalView[]> {
    const rows = await this.#parts.storage.transaction({ userId }, async (tx) =>
      this.#asTheyAre(tx, await tx.list('approvals', { where: { userId }, order: 'desc', limit: LIST_LIMIT })),
    )
    return rows.map(viewOf).filter((view) => status === undefined || view.status === status)
  }

  async get(userId: string, id: string): Promise<ApprovalView> {
    return viewOf(await this.#own(userId, id))
  }

  async answer(userId: string, id: string, input: unknown): Promise<ApprovalView> {
    const { decision, remember, arguments: edited } = parse(approvalAnswer, input)
    const before = await this.#own(userId, id)
    assertMay(before, { remember, edited })
    const status = decision === 'allow' ? ('allowed' as const) : ('denied' as const)
    const now = new Date()
    const answerJson = { decision, ...(remember ? { remember } : {}), ...(edited ? { arguments: edited } : {}) }
    const { row, grant } = await this.#parts.storage.transaction({ userId }, async (tx) => {
      const [current = before] = await this.#asTheyAre(tx, [before])
      if (current.status === 'expired' || before.expiresAt <= now) throw late(current)
      const set = { status, answeredBy: userId, answeredAt: now, answerJson }
      const answered = await tx.update('approvals', id, { set, where: { status: 'pending' } })
      if (!answered) throw late((await tx.get('approvals', id)) ?? before)
      return {
        row: answered,
        grant: remember ? await this.#parts.grants.add(tx, grantOf(before, { decision, remember })) : undefined,
      }
    })
    const { events } = this.#parts
    events.emit({ type: 'approval-answered', userId, approvalId: id, callId: row.callId, ref: row.ref, status })
    if (grant) events.emit({ type: 'grant-added', userId, grantId: grant.id, ref: grant.ref })
    return viewOf(row)
  }

  close(): void {
    this.#waiting.close()
  }

  async #insert(row: ApprovalRow): Promise<void> {
    await this.#parts.storage.transaction({ userId: row.userId }, async (tx) => {
      const open = await tx.list('approvals', {
        where: { userId: row.userId, status: 'pending' },
        limit: MAX_PENDING + 1,
      })
      if (open.filter(isOpen).length >= MAX_PENDING)
        throw new HostError('limit-reached', {
          detail: `${MAX_PENDING} approvals of yours are open.`,
          action: 'Answer some of them first.',
        })
      await tx.insert('approvals', row)
    })
  }

  async #own(userId: string, id: string): Promise<ApprovalRow> {
    const [row] = await this.#parts.storage.transaction({ userId }, async (tx) => {
      const found = await tx.get('approvals', id)
      return this.#asTheyAre(tx, found ? [found] : [])
    })
    if (!row || row.userId !== userId)
      throw new HostError('not-found', { detail: 'There is no such approval of yours.' })
    return row
  }

  /** Open questions of processes that are gone have expired. */
  async #asTheyAre(tx: Transaction, rows: readonly ApprovalRow[]): Promise<ApprovalRow[]> {
    const gone = new Set<string>()
    for (const processId of new Set(rows.filter(isOpen).map((row) => row.processId)))
      if (processId !== this.#parts.presence.processId && !(await isAlive(tx, processId))) gone.add(processId)
    return rows.map((row) => (isOpen(row) && gone.has(row.processId) ? { ...row, status: 'expired' } : row))
  }

  /** The answer that is stored by now, where there is one. */
  async #settled(userId: string, id: string): Promise<Answer | undefined> {
    const row = await this.#parts.storage.transaction({ userId }, (tx) => tx.get('approvals', id))
    if (!row || row.status === 'expired') return { status: 'expired' }
    if (row.status === 'pending') return undefined
    if (row.status === 'denied') return { status: 'denied' }
    const edited = row.answerJson?.arguments as JsonObject | undefined
    return { status: 'allowed', ...(edited ? { arguments: edited } : {}) }
  }

  /** Nobody answered in time, or who asked gave up. An answer that came just now still counts. */
  async #expire({ userId, approvalId, callId, ref }: ApprovalRow): Promise<Answer> {
    const row = await this.#parts.storage.transaction({ userId }, (tx) =>
      tx.update('approvals', approvalId, { set: { status: 'expired' }, where: { status: 'pending' } }),
    )
    if (!row) return (await this.#settled(userId, approvalId)) ?? { status: 'expired' }
    this.#parts.events.emit({ type: 'approval-answered', userId, approvalId, callId, ref, status: 'expired' })
    return { status: 'expired' }
  }
}

function newRow(
  request: ApprovalRequest,
  { expireMs, processId }: { expireMs: number; processId: string },
): ApprovalRow {
  const { arguments: argumentsJson, caller, fingerprints, threadId = null, runId = null, ...rest } = request
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
    expiresAt: new Date(now + expireMs),
    createdAt: new Date(now),
  }
}

type Remember = NonNullable<ReturnType<typeof approvalAnswer.parse>['remember']>

function assertMay(
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

function grantOf(row: ApprovalRow, { decision, remember }: { decision: 'allow' | 'deny'; remember: Remember }) {
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

const isOpen = ({ status, expiresAt }: ApprovalRow) => status === 'pending' && expiresAt > new Date()

function late({ status, expiresAt }: ApprovalRow): HostError {
  const expired = status === 'expired' || (status === 'pending' && expiresAt <= new Date())
  return new HostError('conflict', {
    detail: expired ? 'The approval has expired.' : `The approval was ${status} already.`,
    action: expired ? 'Make the call again.' : 'Nothing: the first answer holds.',
  })
}

function viewOf(row: ApprovalRow): ApprovalView {
  const { approvalId: id, ref, argumentsJson, reason, callerJson, expiresAt, createdAt, callId, threadId } = row
  return {
    id,
    // A question whose process died with nobody to expire it is expired all the same.
    status: row.status === 'pending' && !isOpen(row) ? 'expired' : row.status,
    ref,
    arguments: argumentsJson,
    reason,
    caller: callerJson,
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
    callId,
    ...(threadId === null ? {} : { threadId }),
    allowEdits: row.allowEdits,
    allowRemember: row.allowRemember,
  }
}
