/**
 * Requests approval before a call is made, for apps that ask the user in their own way. Only the stored answer of the
 * user counts:
 *
 * - A request is bound to one call: its model call ID, tool and arguments. Any other call needs its own request.
 * - An answer is used once, across all processes.
 * - An answer applies only while the tool is unchanged; otherwise approval is requested again.
 *
 * A preview calls nothing and is not logged; the call itself is.
 */

import { HostError } from '../errors.ts'
import type { Fingerprinter } from '../policy/fingerprints.ts'
import { canonicalJson, sameJson } from '../schema/json.ts'
import type { ApprovalRow, ApprovalView } from '../schema/records/approval.ts'
import type { Storage } from '../storage/storage.ts'
import { sha256Hex } from '../util/hash.ts'
import { isBuiltIn } from './built-in/built-in-tools.ts'
import type { CallHandler, CallNotes, CallOutcome } from './call.ts'
import { failed } from './call.ts'
import { type CallScope, type NamedCall, resolveRequest } from './call-by-name.ts'
import type { ProviderPrograms } from './provider-programs.ts'

export interface ApprovalPreview {
  decision: 'allow' | 'deny' | 'ask'
  /** Reason of the denial or of the request. */
  reason?: string
  /** The approval request, while it is pending. */
  approval?: ApprovalView
}

export interface ApprovalRequests {
  /** Previews the decision. If approval is needed, stores the request once. */
  ask(scope: CallScope, call: NamedCall): Promise<ApprovalPreview>
  /** Makes the call with the answer to the stored request. */
  call(scope: CallScope, call: NamedCall): Promise<CallOutcome>
}

export interface ApprovalRequestDeps {
  storage: Storage
  /** Pipeline that ends at the decision. */
  preview: CallHandler
  fingerprinter: Pick<Fingerprinter, 'compute'>
  programs: () => Pick<ProviderPrograms, 'call'>
}

/** Values of `processId` in requests that no process waits for, before and after their answer is used. */
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

  /** Returns the outcome of the preview, the pending request, and its row if the tool is unchanged. */
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
      // No request for this call: it is decided as usual.
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

/** Last handler of the `preview` path: reports success without a call. */
export const approvedInAdvance: CallHandler = async () => DONE

const ANSWER = 'Answer it first, then make the call again.'
const pendingDetail = ({ ref, id }: ApprovalView) =>
  `Whether '${ref}' may be called is not answered yet: the question "${id}" is open.`

/** Derives the same ID for the same call in every process. */
async function deriveCallId(
  { userId, threadId }: CallScope,
  { id, name, arguments: args }: NamedCall,
): Promise<string> {
  const text = canonicalJson([userId, threadId ?? null, id ?? null, name, args])
  return `call_ahead_${await sha256Hex(text, 32)}`
}
