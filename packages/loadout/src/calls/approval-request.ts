/**
 * Asked before a call is made, for who shows questions by other means than ours. Only what a user answered to the stored
 * question counts, not what somebody says that they answered:
 *
 * - The question is about this call: the id that the model gave it, the tool, and the arguments. Another one is another question.
 * - An answer is used once, in whichever process.
 * - It holds for what was asked about: a tool that changed meanwhile is asked about anew.
 *
 * Looking ahead calls nothing, and is no call: the log has the call itself.
 */
import { HostError } from '../errors.ts'
import type { Fingerprinter } from '../policy/fingerprints.ts'
import { canonicalJson, sameJson } from '../schema/json.ts'
import type { ApprovalRow, ApprovalView } from '../schema/records/approval.ts'
import type { Storage } from '../storage/storage.ts'
import { isBuiltIn } from './built-in/built-in-tools.ts'
import type { CallHandler, CallNotes, CallOutcome } from './call.ts'
import { failed } from './call.ts'
import { type CallScope, type NamedCall, resolveRequest } from './call-by-name.ts'
import type { ProviderPrograms } from './provider-programs.ts'

export interface ApprovalPreview {
  decision: 'allow' | 'deny' | 'ask'
  /** Why it is denied or asked. */
  reason?: string
  /** The question, as long as it is open. */
  approval?: ApprovalView
}

export interface ApprovalRequests {
  /** What would come of the call; where a person must answer first, the question is stored, once. */
  ask(scope: CallScope, call: NamedCall): Promise<ApprovalPreview>
  /** Makes the call, with the answer to what was asked ahead of it. */
  call(scope: CallScope, call: NamedCall): Promise<CallOutcome>
}

export interface ApprovalRequestDeps {
  storage: Storage
  /** The way of a call up to the decision, and nothing behind it. */
  preview: CallHandler
  fingerprinter: Pick<Fingerprinter, 'compute'>
  programs: () => Pick<ProviderPrograms, 'call'>
}

/** What the rows of questions that nobody waits for are marked with, before their answer is used and after. */
const UNUSED = ''
const USED = 'used'

export function createApprovalRequests({
  storage,
  preview,
  fingerprinter,
  programs,
}: ApprovalRequestDeps): ApprovalRequests {
  const findApproval = async (userId: string, callId: string): Promise<ApprovalRow | undefined> => {
    const rows = await storage.transaction({ userId }, (tx) => tx.list('approvals', { where: { userId, callId } }))
    return rows.at(-1)
  }

  /** The outcome that stands before the call, what was found on the way, and the question that is open. */
  async function previewCall(scope: CallScope, call: NamedCall, callId: string) {
    const target = resolveRequest(scope, call)
    if ('outcome' in target) return { outcome: target.outcome }
    if (isBuiltIn(target.request)) return { outcome: DONE }
    const row = await findApproval(scope.userId, callId)
    const notes: CallNotes = {}
    let approval: ApprovalView | undefined
    const outcome = await preview({
      ...target.request,
      callId,
      notes,
      pauses: row ? { approvalId: row.approvalId } : {},
      onPending: (request) => {
        approval = request
      },
    })
    const { resolved } = notes
    const fingerprints = resolved && (await fingerprinter.compute(resolved.stored, resolved.found))
    return { outcome, approval, row: row && sameJson(fingerprints, row.fingerprintsJson) ? row : undefined }
  }

  return {
    async ask(scope, call) {
      const { outcome, approval } = await previewCall(scope, call, await deriveCallId(scope, call))
      if (approval) return { decision: 'ask', reason: approval.reason, approval }
      return 'error' in outcome ? { decision: 'deny', reason: outcome.error.message } : { decision: 'allow' }
    },
    async call(scope, { asked: _, ...call }) {
      const callId = await deriveCallId(scope, call)
      const { approval, row } = await previewCall(scope, call, callId)
      if (approval)
        return failed(new HostError('approval-pending', { detail: pendingDetail(approval), action: ANSWER }))
      // Nothing was asked, or of something else: it is decided as if nobody had asked ahead.
      if (!row) return programs().call(scope, call)
      const { userId, approvalId } = row
      if (row.status === 'allowed') {
        const consume = { set: { processId: USED }, where: { status: 'allowed' as const, processId: UNUSED } }
        if (!(await storage.transaction({ userId }, (tx) => tx.update('approvals', approvalId, consume))))
          return failed(new HostError('conflict', { detail: 'The call that was allowed has been made already.' }))
      }
      return programs().call(scope, { ...call, callId, pauses: { approvalId } })
    },
  }
}

const DONE: CallOutcome = { status: 'ok', content: [] }

/** The end of the way ahead: it may be called, and is not. */
export const approvedInAdvance: CallHandler = async () => DONE

const ANSWER = 'Answer it first, then make the call again.'
const pendingDetail = ({ ref, id }: ApprovalView) =>
  `Whether '${ref}' may be called is not answered yet: the question "${id}" is open.`

/** The same for the same call, wherever it is read. */
async function deriveCallId(
  { userId, threadId }: CallScope,
  { id, name, arguments: args }: NamedCall,
): Promise<string> {
  const text = canonicalJson([userId, threadId ?? null, id ?? null, name, args])
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return `call_ahead_${[...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
