/**
 * Stored approval requests. Any process can store the answer; the process of the waiting call receives it through the
 * storage. A request is answered once, and expires without an answer, which denies the call. It also expires if the
 * process of the waiting call is dead. Requests of runs do not wait: they stay open without a process, and the run
 * returns for the answer. All arguments are shown with secrets masked. If edits are permitted, the unmasked arguments
 * are stored encrypted until the answer. An edit is validated against them and the schema of the tool in any process;
 * an invalid edit leaves the request open. Edited arguments are encrypted until the call has read them.
 */
import type { CredentialStore } from '../../credentials/credential-store.ts'
import { HostError } from '../../errors.ts'
import type { Emitter } from '../../events.ts'
import { isAlive, type ProcessLease } from '../../processes/heartbeat.ts'
import { invalidFields, type JsonObject } from '../../schema/json.ts'
import type { ApprovalRow, ApprovalView } from '../../schema/records/approval.ts'
import type { Storage, Transaction } from '../../storage/storage.ts'
import type { Fingerprints } from '../fingerprints.ts'
import { type Grants, grantEventFields } from '../grants.ts'
import { type ApprovalAnswer, createAnswerWaiter } from './answer-waiter.ts'
import {
  type AnswerInput,
  type ApprovalRequest,
  addressOf,
  approvalViewOf,
  assertMayAnswer,
  grantOf,
  isOpen,
  late,
  newApprovalRow,
  parseAnswer,
  type RequestedArguments,
} from './approval-rows.ts'
import { restoreMasked } from './restore-masked.ts'

export interface Approvals {
  /** Stores a request. `answer` resolves with the answer from any process. */
  ask(
    request: ApprovalRequest,
    signal?: AbortSignal,
  ): Promise<{ approval: ApprovalView; answer: Promise<ApprovalAnswer> }>
  /** Stores a request of a run: it outlives the process and stays open for days. */
  put(request: ApprovalRequest): Promise<ApprovalView>
  /** The answer to the request of a call; `answer` is missing while it is pending. Otherwise `not-found`. */
  answerTo(about: { userId: string; callId: string; id: string }): Promise<ApprovalWithAnswer>
  /** Expires the pending requests of a run. */
  withdraw(userId: string, runId: string): Promise<void>
  list(userId: string, filter?: ApprovalFilter): Promise<ApprovalView[]>
  get(userId: string, id: string): Promise<ApprovalView>
  /** `conflict` if it was answered or has expired; `invalid-input` for an invalid edit, which leaves it open. */
  answer(...args: AnswerInput): Promise<ApprovalView>
  close(): void
}

export interface ApprovalWithAnswer {
  approval: ApprovalView
  /** Fingerprints at the time of the request. */
  fingerprints: Fingerprints
  answer?: ApprovalAnswer
}

export interface ApprovalFilter {
  status?: ApprovalRow['status'] | undefined
  /** Only requests older than this one. */
  cursor?: string | undefined
  /** @default 1000 */
  limit?: number | undefined
}

export interface ApprovalDeps {
  storage: Storage
  events: Emitter
  grants: Pick<Grants, 'add'>
  credentials: Pick<CredentialStore, 'seal' | 'unseal'>
  /** Validates arguments against the schema of a tool. */
  check(inputSchema: JsonObject, args: JsonObject): HostError | undefined
  /** Lease of this process, in which calls wait. */
  presence: ProcessLease
  /** Time in ms until a request expires. @default 600_000 */
  expireMs?: number | undefined
}

const EXPIRE_MS = 600_000
const DEFERRED_EXPIRE_MS = 7 * 86_400_000
const MAX_PENDING = 100
const LIST_LIMIT = 1000
/** `processId` of requests that no process waits for. */
const NO_PROCESS = ''

export function createApprovals(deps: ApprovalDeps): Approvals {
  return new StoredApprovals(deps)
}

class StoredApprovals implements Approvals {
  readonly #deps: ApprovalDeps
  readonly #waiter

  constructor(deps: ApprovalDeps) {
    this.#deps = deps
    this.#waiter = createAnswerWaiter(deps.storage, (userId, id) => this.#settled(userId, id))
  }

  async ask(request: ApprovalRequest, signal?: AbortSignal) {
    const { events, presence, expireMs = EXPIRE_MS } = this.#deps
    const row = await this.#withSealed(newApprovalRow(request, { expireMs, processId: presence.processId }), request)
    const release = await presence.acquire()
    await this.#insert(row).catch((error: unknown) => {
      release()
      throw error
    })
    const { userId, approvalId } = row
    const pendingAnswer = this.#waiter.wait({ userId, id: approvalId, until: row.expiresAt, signal })
    const approval = approvalViewOf(row)
    events.emit({ type: 'approval-requested', userId, approvalId, callId: row.callId, ref: row.ref })
    const settled = pendingAnswer
      .then((answer) => answer ?? this.#expire(row))
      .then((answer) => this.#clearEdit(row, answer))
    return { approval, answer: settled.finally(release) }
  }

  async put(request: ApprovalRequest): Promise<ApprovalView> {
    const expireMs = Math.max(DEFERRED_EXPIRE_MS, this.#deps.expireMs ?? 0)
    const row = await this.#withSealed(newApprovalRow(request, { expireMs, processId: NO_PROCESS }), request)
    await this.#insert(row)
    const { userId, approvalId, callId, ref } = row
    this.#deps.events.emit({ type: 'approval-requested', userId, approvalId, callId, ref })
    return approvalViewOf(row)
  }

  async answerTo({ userId, callId, id }: { userId: string; callId: string; id: string }) {
    const row = await this.#find(userId, id)
    if (row.callId !== callId) throw new HostError('not-found', { detail: 'There is no such approval of this call.' })
    const approval = approvalViewOf(row)
    const late = approval.status === 'expired' ? await this.#expire(row) : await this.#settled(userId, id)
    const current = { approval, fingerprints: row.fingerprintsJson }
    return late ? { ...current, answer: await this.#clearEdit(row, late) } : current
  }

  async withdraw(userId: string, runId: string): Promise<void> {
    const where = { userId, runId, status: 'pending' as const }
    const open = await this.#deps.storage.transaction({ userId }, (tx) => tx.list('approvals', { where }))
    for (const row of open) await this.#expire(row)
  }

  async list(
    userId: string,
    { status, cursor: after, limit = LIST_LIMIT }: ApprovalFilter = {},
  ): Promise<ApprovalView[]> {
    const found: ApprovalView[] = []
    // Expiry is computed, not stored, so one page may need several queries.
    for (let from = after; found.length < limit; ) {
      const where = { userId, ...(status === undefined || status === 'expired' ? {} : { status }) }
      const query = { where, order: 'desc' as const, limit: LIST_LIMIT, ...(from === undefined ? {} : { after: from }) }
      const rows = await this.#deps.storage.transaction({ userId }, async (tx) =>
        this.#withExpired(tx, await tx.list('approvals', query)),
      )
      found.push(...rows.map(approvalViewOf).filter((view) => status === undefined || view.status === status))
      from = rows.at(-1)?.approvalId
      if (rows.length < LIST_LIMIT) break
    }
    return found.slice(0, limit)
  }

  async get(userId: string, id: string): Promise<ApprovalView> {
    return approvalViewOf(await this.#find(userId, id))
  }

  async answer(...args: AnswerInput): Promise<ApprovalView> {
    const { userId, id, decision, remember, arguments: edited } = parseAnswer(args)
    const before = await this.#find(userId, id)
    assertMayAnswer(before, { remember, edited })
    if (before.status !== 'pending') throw late(before)
    const status = decision === 'allow' ? ('allowed' as const) : ('denied' as const)
    const now = new Date()
    const sealedJson = edited && decision === 'allow' ? await this.#sealedEdit(before, edited) : null
    const answerJson = { decision, ...(remember ? { remember } : {}), ...(sealedJson ? { edited: true } : {}) }
    const { row, grant } = await this.#deps.storage.transaction({ userId }, async (tx) => {
      const [current = before] = await this.#withExpired(tx, [before])
      if (current.status === 'expired' || before.expiresAt <= now) throw late(current)
      const set = { status, answeredBy: userId, answeredAt: now, answerJson, sealedJson }
      const updated = await tx.update('approvals', id, { set, where: { status: 'pending' } })
      if (!updated) throw late((await tx.get('approvals', id)) ?? before)
      return {
        row: updated,
        grant: remember ? await this.#deps.grants.add(tx, grantOf(before, { decision, remember })) : undefined,
      }
    })
    const { events } = this.#deps
    const run = row.runId === null ? {} : { runId: row.runId }
    events.emit({ type: 'approval-answered', userId, approvalId: id, callId: row.callId, ref: row.ref, status, ...run })
    if (grant) events.emit({ type: 'grant-added', userId, ...grantEventFields(grant) })
    return approvalViewOf(row)
  }

  close(): void {
    this.#waiter.close()
  }

  async #withSealed(row: ApprovalRow, { arguments: masked, original, inputSchema }: ApprovalRequest) {
    if (!row.allowEdits) return row
    const text = JSON.stringify({ original, shown: masked, inputSchema } satisfies RequestedArguments)
    return { ...row, sealedJson: await this.#deps.credentials.seal(addressOf(row), text) }
  }

  /** Restores masked secrets in an edit, validates and encrypts it. */
  async #sealedEdit(row: ApprovalRow, edited: JsonObject) {
    const { credentials, check } = this.#deps
    if (!row.sealedJson) throw late(row)
    const {
      original,
      shown: masked,
      inputSchema,
    } = JSON.parse(await credentials.unseal(addressOf(row), row.sealedJson)) as RequestedArguments
    const { arguments: restored, errors } = restoreMasked({ original, masked }, edited)
    if (errors.length > 0) throw invalidFields(errors)
    const problem = check(inputSchema, restored)
    if (problem) throw problem
    return credentials.seal(addressOf(row), JSON.stringify(restored))
  }

  async #insert(row: ApprovalRow): Promise<void> {
    await this.#deps.storage.transaction({ userId: row.userId }, async (tx) => {
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

  async #find(userId: string, id: string): Promise<ApprovalRow> {
    const [row] = await this.#deps.storage.transaction({ userId }, async (tx) => {
      const found = await tx.get('approvals', id)
      return this.#withExpired(tx, found ? [found] : [])
    })
    if (!row || row.userId !== userId)
      throw new HostError('not-found', { detail: 'There is no such approval of yours.' })
    return row
  }

  /** Marks pending requests of dead processes as expired. */
  async #withExpired(tx: Transaction, rows: readonly ApprovalRow[]): Promise<ApprovalRow[]> {
    const gone = new Set<string>()
    for (const processId of new Set(rows.filter(isOpen).map((row) => row.processId)))
      if (processId !== NO_PROCESS && processId !== this.#deps.presence.processId && !(await isAlive(tx, processId)))
        gone.add(processId)
    return rows.map((row) => (isOpen(row) && gone.has(row.processId) ? { ...row, status: 'expired' } : row))
  }

  /** The stored answer, if there is one. */
  async #settled(userId: string, id: string): Promise<ApprovalAnswer | undefined> {
    const row = await this.#deps.storage.transaction({ userId }, (tx) => tx.get('approvals', id))
    if (!row || row.status === 'expired') return { status: 'expired' }
    if (row.status === 'pending') return undefined
    if (row.status === 'denied') return { status: 'denied' }
    return row.answerJson?.edited === true ? this.#edited(row) : { status: 'allowed' }
  }

  async #edited(row: ApprovalRow): Promise<ApprovalAnswer | undefined> {
    if (!row.sealedJson) return undefined
    const args = JSON.parse(await this.#deps.credentials.unseal(addressOf(row), row.sealedJson)) as JsonObject
    return { status: 'allowed', arguments: args }
  }

  /** Deletes edited arguments once the waiting call has read them. */
  async #clearEdit({ userId, approvalId }: ApprovalRow, answer: ApprovalAnswer): Promise<ApprovalAnswer> {
    if (answer.status !== 'allowed' || !answer.arguments) return answer
    const forget = { set: { sealedJson: null } }
    // If the write fails, they stay encrypted.
    await this.#deps.storage
      .transaction({ userId }, (tx) => tx.update('approvals', approvalId, forget))
      .catch(() => undefined)
    return answer
  }

  /** Expires a request. An answer that was stored first still counts. */
  async #expire({ userId, approvalId, callId, ref }: ApprovalRow): Promise<ApprovalAnswer> {
    const row = await this.#deps.storage.transaction({ userId }, (tx) =>
      tx.update('approvals', approvalId, {
        set: { status: 'expired', sealedJson: null },
        where: { status: 'pending' },
      }),
    )
    if (!row) return (await this.#settled(userId, approvalId)) ?? { status: 'expired' }
    this.#deps.events.emit({ type: 'approval-answered', userId, approvalId, callId, ref, status: 'expired' })
    return { status: 'expired' }
  }
}
