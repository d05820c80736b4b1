/**
 * Takes the answers that a user gave to approval requests of the AI SDK to Loadout's stored requests. Messages come from
 * a client, so call it only with messages of the signed-in user: each answer counts as that user's answer, for the tool
 * and the arguments in the messages.
 */
import { z } from 'zod'
import type { ApprovalPreview } from '../calls/approval-request.ts'
import { type JsonObject, jsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'

export interface AnswerOptions {
  /** Selection of the thread of the messages. */
  selection: { ask: (call: { id: string; name: string; arguments: JsonObject }) => Promise<ApprovalPreview> }
  /** `host.user(id).approvals`. */
  approvals: {
    allow: (id: string) => Promise<ApprovalView>
    deny: (id: string) => Promise<ApprovalView>
  }
}

export interface SdkAnswer {
  toolCallId: string
  approval: ApprovalView
}

/** Parts of model messages. */
const callPart = z.looseObject({
  type: z.literal('tool-call'),
  toolCallId: z.string(),
  toolName: z.string(),
  input: jsonObject,
})
const requestPart = z.looseObject({
  type: z.literal('tool-approval-request'),
  approvalId: z.string(),
  toolCallId: z.string(),
})
const responsePart = z.looseObject({
  type: z.literal('tool-approval-response'),
  approvalId: z.string(),
  approved: z.boolean(),
})
/** Part of a UI message, as `addToolApprovalResponse` of `useChat` writes it. */
const uiPart = z.looseObject({
  type: z.string(),
  toolName: z.string().optional(),
  toolCallId: z.string(),
  input: jsonObject,
  approval: z.looseObject({ approved: z.boolean() }),
})

/**
 * Allows or denies the pending requests that the messages answer, and returns them. Answers without a pending request
 * are ignored.
 * @example await answerFromSdk(messages, { selection, approvals: ann.approvals })
 */
export async function answerFromSdk(
  messages: readonly object[],
  { selection, approvals }: AnswerOptions,
): Promise<SdkAnswer[]> {
  const answered: SdkAnswer[] = []
  for (const { approved, ...call } of answersIn(messages)) {
    const { approval } = await selection.ask(call)
    if (approval?.status !== 'pending') continue
    const answer = await (approved ? approvals.allow(approval.id) : approvals.deny(approval.id))
    answered.push({ toolCallId: call.id, approval: answer })
  }
  return answered
}

interface CallAnswer {
  id: string
  name: string
  arguments: JsonObject
  approved: boolean
}

/** One answer per tool call; the last one counts. */
function answersIn(messages: readonly object[]): CallAnswer[] {
  const parts = messages.flatMap((message) => {
    const { content, parts: uiParts } = message as { content?: unknown; parts?: unknown }
    return [content, uiParts].flatMap((value) => (Array.isArray(value) ? value : []))
  })
  const calls = new Map<string, Omit<CallAnswer, 'approved'>>()
  const callIds = new Map<string, string>()
  const answers = new Map<string, CallAnswer>()
  for (const part of parts) {
    const { data: call } = callPart.safeParse(part)
    if (call) calls.set(call.toolCallId, { id: call.toolCallId, name: call.toolName, arguments: call.input })
    const { data: request } = requestPart.safeParse(part)
    if (request) callIds.set(request.approvalId, request.toolCallId)
    const { data: response } = responsePart.safeParse(part)
    const asked = response && calls.get(callIds.get(response.approvalId) ?? '')
    if (response && asked) answers.set(asked.id, { ...asked, approved: response.approved })
    const { data: ui } = uiPart.safeParse(part)
    if (!ui) continue
    const { toolCallId: id, input, toolName = ui.type.replace(/^tool-/, ''), approval } = ui
    answers.set(id, { id, name: toolName, arguments: input, approved: approval.approved })
  }
  return [...answers.values()]
}
