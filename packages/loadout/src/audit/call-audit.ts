/**
 * What is remembered of a call: its intent before the server sees it, its outcome after. A call that never came so far has
 * the outcome alone, with what the intent would have told. No text of an error or a result is kept, only codes and sizes.
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

/** A call, as it was asked for. */
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

/** What is known of it so far. */
export interface CallDetails {
  /** The toolkit that was found. */
  stored?: StoredToolkit | undefined
  inputSchema?: JsonObject | undefined
  decision?: Decision | undefined
  /** Of its arguments. */
  warnings?: readonly string[] | undefined
  /** In bytes, where somebody measured them. */
  argumentSize?: number | undefined
}

export interface AuditedOutcome {
  status: string
  /** Whether its intent was recorded. */
  reached: boolean
  durationMs: number
  errorCode?: ErrorCode | undefined
  /** In bytes. */
  resultSize?: number | undefined
}

export interface CallAudit {
  /** All of the arguments, with nothing but secrets hidden: what a person is asked about. */
  show(call: Pick<AuditedCall, 'arguments' | 'userId'>, details: CallDetails): JsonObject | Promise<JsonObject>
  /** As much of the arguments as is kept. */
  mask(call: Pick<AuditedCall, 'arguments' | 'userId'>, details: CallDetails): JsonObject | Promise<JsonObject>
  /** Safe when it returns, or resolves. Throws where it cannot be kept: then the call must not be made. */
  intent(call: AuditedCall, details: CallDetails): void | Promise<void>
  outcome(call: AuditedCall, details: CallDetails, outcome: AuditedOutcome): void | Promise<void>
  /** The outcome of a call whose user went meanwhile: that there was one. */
  removedUserOutcome(outcome: AuditedOutcome): void | Promise<void>
}

export interface CallAuditDeps {
  /** With `follows`, what it follows is safe already, and it may be lost with the process. */
  record(input: AuditInput, follows?: boolean): void | Promise<void>
  secrets: Pick<ToolkitSecrets, 'list'>
}

const NONE: readonly string[] = []
/** A tool that was not found has no schema to tell which of its arguments are secret: any may be. */
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
  // What was not found has only the name that was asked for.
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
