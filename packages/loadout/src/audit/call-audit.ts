/**
 * Audit entries of calls: the intent before the server receives a call, and the outcome after it. A call that never
 * reached its server has only the outcome entry, which then contains the intent fields. Entries contain error codes and
 * sizes, never the text of an error or a result.
 */
import type { ToolkitSecrets } from '../connections/known-secrets.ts'
import type { ErrorCode } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Decision } from '../schema/toolkit/policy.ts'
import type { Caller } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { jsonSize } from '../util/byte-size.ts'
import { type AuditInput, CALL_ACTION } from './entry.ts'
import { createRedactor } from './redact/redact-arguments.ts'

/** A call as it was requested. */
export interface AuditedCall {
  callId: string
  userId: string
  /** The toolkit's id or `usco_…`. */
  toolkit: string
  tool: string
  arguments: JsonObject
  caller: Caller
  threadId?: string | undefined
  runId?: string | undefined
}

/** Details of a call that pipeline stages have found so far. */
export interface CallDetails {
  /** The resolved toolkit. */
  stored?: StoredToolkit | undefined
  inputSchema?: JsonObject | undefined
  decision?: Decision | undefined
  /** Warnings about the arguments. */
  warnings?: readonly string[] | undefined
  /** In bytes, if a stage measured them. */
  argumentSize?: number | undefined
}

export interface AuditedOutcome {
  status: string
  /** Whether the intent entry was recorded. */
  reached: boolean
  durationMs: number
  errorCode?: ErrorCode | undefined
  /** In bytes. */
  resultSize?: number | undefined
}

export interface CallAudit {
  /** Redacts only secrets and cuts nothing: for approval requests. */
  show(call: Pick<AuditedCall, 'arguments' | 'userId'>, details: CallDetails): JsonObject | Promise<JsonObject>
  /** Redacts secrets and cuts the arguments to the size that the log stores. */
  mask(call: Pick<AuditedCall, 'arguments' | 'userId'>, details: CallDetails): JsonObject | Promise<JsonObject>
  /** Durable when it returns or resolves. If it throws, the call must not be made. */
  intent(call: AuditedCall, details: CallDetails): void | Promise<void>
  outcome(call: AuditedCall, details: CallDetails, outcome: AuditedOutcome): void | Promise<void>
  /** Records an outcome without its user, who was removed during the call. */
  removedUserOutcome(outcome: AuditedOutcome): void | Promise<void>
}

export interface CallAuditDeps {
  /** `follows` marks an outcome whose intent is durable: the entry may be lost with the process. */
  record(input: AuditInput, follows?: boolean): void | Promise<void>
  secrets: Pick<ToolkitSecrets, 'list'>
}

const NONE: readonly string[] = []
/** An unknown tool has no schema that marks secrets, so all its arguments count as secret. */
const UNKNOWN = { additionalProperties: { writeOnly: true } }

export function createCallAudit({ record, secrets }: CallAuditDeps): CallAudit {
  const redact = createRedactor()
  const withSecrets = <T>(
    { userId }: Pick<AuditedCall, 'userId'>,
    { stored }: CallDetails,
    work: (values: readonly string[]) => T | Promise<T>,
  ): T | Promise<T> => {
    const values = stored ? secrets.list(stored, userId) : NONE
    return values instanceof Promise ? values.then(work) : work(values)
  }
  const masked = (args: JsonObject, { inputSchema }: CallDetails, values: readonly string[]) =>
    redact(args, { schema: inputSchema ?? UNKNOWN, secrets: values })
  const requestFields = (call: AuditedCall, details: CallDetails, values: readonly string[]): JsonObject => ({
    caller: call.caller.type,
    ...(call.caller.toolId === undefined ? {} : { toolId: call.caller.toolId.slice(0, 200) }),
    ...(details.decision ? { decision: details.decision.decision, reason: details.decision.reason.slice(0, 500) } : {}),
    ...(details.warnings ? { warnings: details.warnings } : {}),
    arguments: masked(call.arguments, details, values),
    argumentSize: details.argumentSize ?? jsonSize(call.arguments),
  })
  return {
    show: (call, details) =>
      withSecrets(call, details, (secrets) =>
        redact(call.arguments, { schema: details.inputSchema ?? UNKNOWN, secrets, whole: true }),
      ),
    mask: (call, details) => withSecrets(call, details, (values) => masked(call.arguments, details, values)),
    intent: (call, details) =>
      withSecrets(call, details, (values) =>
        record({ ...entryFields(call, details, 'started'), detail: requestFields(call, details, values) }),
      ),
    removedUserOutcome: ({ status }) => record({ userId: APP_OWNER, action: CALL_ACTION, outcome: status }, true),
    outcome(call, details, { status, reached, durationMs, errorCode, resultSize }) {
      const outcomeFields: JsonObject = { durationMs: Math.round(durationMs * 1000) / 1000 }
      if (errorCode !== undefined) outcomeFields.errorCode = errorCode
      if (resultSize !== undefined) outcomeFields.resultSize = resultSize
      const input = entryFields(call, details, status)
      if (reached) return record({ ...input, detail: outcomeFields }, true)
      return withSecrets(call, details, (values) =>
        record({ ...input, detail: { ...requestFields(call, details, values), ...outcomeFields } }),
      )
    },
  }
}

function entryFields(call: AuditedCall, { stored }: CallDetails, outcome: string): AuditInput {
  // An unknown toolkit only has the requested name.
  const toolkit = stored?.toolkit.id ?? call.toolkit.slice(0, 100)
  return {
    userId: call.userId,
    action: CALL_ACTION,
    source: `mcp:${toolkit}`,
    threadId: call.threadId,
    runId: call.runId,
    callId: call.callId,
    ref: `${toolkit}.${call.tool.slice(0, 256)}`,
    outcome,
  }
}
