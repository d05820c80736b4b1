/** Types of a call and its outcome. Outcomes are values: a denied or failed call does not throw. */

import type { Context } from '@opentelemetry/api'
import type { AuditedCall } from '../audit/call-audit.ts'
import type { CatalogTool } from '../catalog/catalog.ts'
import type { LogLine } from '../code-mode/executor.ts'
import type { ElicitationRequest, ServerLogEntry } from '../connections/connection.ts'
import type { HostError } from '../errors.ts'
import type { Loadout } from '../loadout/overlay.ts'
import type { Fingerprints } from '../policy/fingerprints.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { Decision, PolicyRuleInput } from '../schema/toolkit/policy.ts'
import type { AllowedCaller, Annotations } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

export interface ToolCall extends AuditedCall {
  notes: CallNotes
  /** Maximum duration in ms, which overrides a longer timeout of the toolkit. */
  maxMs?: number | undefined
  /** The model's loadout, with limits applied. Built-in tools use only it. @default the loadout of the scope */
  loadout?: Loadout | undefined
  /** Refs that the model has in this step: `search_tools` prefers others. */
  visibleRefs?: readonly string[] | undefined
  /** Callers that may call the results of `search_tools`. @default the caller */
  callers?: readonly AllowedCaller[] | undefined
  /** Inline toolkits of this call by ID. They hide stored toolkits with the same ID. */
  inlineToolkits?: ReadonlyMap<string, StoredToolkit> | undefined
  signal?: AbortSignal | undefined
  /** The prompt. A successful call stores it as a search example for this user. */
  prompt?: string | undefined
  /** Rules of this call. They can only tighten the policy. */
  rules?: readonly PolicyRuleInput[] | undefined
  /**
   * The call does not wait for approval: it ends with `approval-pending`, and the request outlives the process. Calling
   * again with the same call ID and `approvalId` uses the answer.
   */
  pauses?: { approvalId?: string | undefined } | undefined
  /** Test run of an unsaved toolkit. No approval is requested: the call ends instead, unless `allow` is set. */
  trial?: { allow: boolean } | undefined
  /** Custom tools whose code makes this call, outermost first. */
  inside?: readonly string[] | undefined
  /** Receives the redacted log of a custom tool. */
  onLogs?: ((logs: LogLine[]) => void) | undefined
  /** Fingerprints that the user allowed. They apply only if the tool is unchanged. */
  allowed?: (Fingerprints & { edited: boolean }) | undefined
  /** Called when the call needs approval. */
  onPending?: ((approval: ApprovalView) => void) | undefined
  /** Called after approval. The call waits until it resolves. */
  onAllowed?: (() => Promise<void>) | undefined
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined
  /** Receives redacted log entries of the server. Only for servers of the user. */
  onLog?: ((entry: ServerLogEntry) => void) | undefined
  /** Parent trace. @default the active trace */
  trace?: Context | undefined
}

/** Mutable notes that inner stages leave for outer ones. */
export interface CallNotes {
  /** Names of the resolved tool. */
  found?: { toolkit: string; tool: string }
  decision?: Decision
  /** Arguments that were sent although they violate a `format` of the schema. */
  warnings?: readonly string[]
  /** The call after its tool was resolved. */
  resolved?: ResolvedCall
  /** Whether the intent is recorded: from then on a server may have received the call. */
  reached?: boolean
  /** Whether the user was removed during the call: later writes must not name the user. */
  isForgotten?: boolean
  /** The sent arguments, which the approver may have edited. */
  sent?: JsonObject
  /** In bytes, once measured. */
  argumentSize?: number
  resultSize?: number
}

/** A call with its resolved tool. */
export interface ResolvedCall extends ToolCall {
  stored: StoredToolkit
  found: CatalogTool
}

/** An elicitation request of a server during a call. */
export interface Input {
  id: string
  toolkit: string
  uscoId: string
  question: ElicitationRequest
}

export type CallOutcome<Output = unknown> =
  | {
      status: 'ok' | 'tool-error'
      content: JsonObject[]
      structuredContent?: Output
      resultHandle?: string
      /** Arguments that were sent although they differ from the `format` of the schema. */
      warnings?: string[]
    }
  | { status: 'sign-in-needed' | 'denied' | 'limited' | 'failed'; error: HostError }

export type CallHandler<C extends ToolCall = ToolCall> = (call: C) => Promise<CallOutcome>

/**
 * A stage of the pipeline: it does its part and calls the next stage, or answers itself. `restart` runs the call again from
 * the point where its tool is looked up.
 */
export type Stage = (next: CallHandler<ResolvedCall>, restart: CallHandler) => CallHandler<ResolvedCall>

/** The outcome of a call that an error ended before its tool answered. */
export const failed = (error: HostError): CallOutcome => ({
  status: error.code === 'sign-in-needed' ? 'sign-in-needed' : error.code === 'not-carried' ? 'denied' : 'failed',
  error,
})

/** Whether a retry is safe according to the (tightened) annotations. */
export const isRepeatable = ({ manifest }: { manifest: Pick<LoadoutEntry['manifest'], 'annotations'> }) =>
  isHarmless(manifest.annotations)

/** The server's own claim is sufficient, because a wrong claim harms only that server. */
export const isHarmless = (annotations: Annotations | undefined) =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true
