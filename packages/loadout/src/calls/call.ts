/** A call on its way to a tool, and what comes of it. Outcomes are values: a refused or failed call is not thrown. */

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
  /** The longest that it may take, whatever its toolkit says. */
  maxMs?: number | undefined
  /** The loadout of the model that calls: limits were applied to it, and the host's own tools use no other. @default the scope's */
  loadout?: Loadout | undefined
  /** Refs that the model that calls has with this step: `search_tools` looks for others first. */
  visibleRefs?: readonly string[] | undefined
  /** Who calls what `search_tools` finds. @default who calls it */
  callers?: readonly AllowedCaller[] | undefined
  /** Toolkits that this call brings, by their id. They hide stored ones of the same id. */
  inlineToolkits?: ReadonlyMap<string, StoredToolkit> | undefined
  signal?: AbortSignal | undefined
  /** What was asked for when it was made. A call that goes well makes it an example of its tool, for this user alone. */
  prompt?: string | undefined
  /** Rules of this call alone. They only tighten. */
  rules?: readonly PolicyRuleInput[] | undefined
  /**
   * Nobody waits: where a person must answer first, the call ends with `approval-pending` and the question stays, whatever
   * becomes of this process. Made again under the same id with what was asked, it goes on with the answer.
   */
  pauses?: { approvalId?: string | undefined } | undefined
  /** A try of what is not saved: nobody is asked. Where somebody would be, it ends, unless who tries it has allowed it. */
  trial?: { allow: boolean } | undefined
  /** The custom tools whose code it comes from, the outermost first. */
  inside?: readonly string[] | undefined
  /** Told what the code of a custom tool logged, without its secrets. */
  onLogs?: ((logs: LogLine[]) => void) | undefined
  /** What a person allowed while it waited: this call, where it is still what was asked about. */
  allowed?: (Fingerprints & { edited: boolean }) | undefined
  /** Told when a person must answer first. */
  onPending?: ((approval: ApprovalView) => void) | undefined
  /** Told that it was allowed, and waited for: nothing goes on before that is known. */
  onAllowed?: (() => Promise<void>) | undefined
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined
  /** Told what the server logs meanwhile, without secrets: of one's own servers. */
  onLog?: ((entry: ServerLogEntry) => void) | undefined
  /** The trace that it belongs to. @default the one that is active */
  trace?: Context | undefined
}

/** What stages learn on the way, for those around them: the one thing of a call that changes. */
export interface CallNotes {
  /** The names of the tool, once it was found. */
  found?: { toolkit: string; tool: string }
  decision?: Decision
  /** What is sent although it differs from an annotation of the schema. */
  warnings?: readonly string[]
  /** The call once its tool was found. */
  resolved?: ResolvedCall
  /** Its intent is recorded: from here on a server may have seen it. */
  reached?: boolean
  /** Its user was removed while it was under way: nothing that is written of it names them. */
  isForgotten?: boolean
  /** The arguments that were sent: who answered may have changed them. */
  sent?: JsonObject
  /** In bytes, once they were measured. */
  argumentSize?: number
  resultSize?: number
}

/** A call whose tool was found. */
export interface ResolvedCall extends ToolCall {
  stored: StoredToolkit
  found: CatalogTool
}

/** What a server asks of the user before it goes on. */
export interface Input {
  id: string
  toolkit: string
  uscoId: string
  question: ElicitationRequest
}

export type CallOutcome =
  | {
      status: 'ok' | 'tool-error'
      content: JsonObject[]
      structuredContent?: unknown
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

/** Whether making a call twice does no more than making it once, as the tool is said to be, with what was tightened of it. */
export const isRepeatable = ({ manifest }: { manifest: Pick<LoadoutEntry['manifest'], 'annotations'> }) =>
  isHarmless(manifest.annotations)

/** The harm of a repetition is that of the server which claims it to be none: a claim is enough. */
export const isHarmless = (annotations: Annotations | undefined) =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true
