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
export interface KnownOfCall {
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
  show(call: Pick<AuditedCall, 'arguments' | 'userId'>, known: KnownOfCall): JsonObject | Promise<JsonObject>
  /** As much of the arguments as is kept. */
  mask(call: Pick<AuditedCall, 'arguments' | 'userId'>, known: KnownOfCall): JsonObject | Promise<JsonObject>
  /** Safe when it returns, or resolves. Throws where it cannot be kept: then the call must not be made. */
  intent(call: AuditedCall, known: KnownOfCall): void | Promise<void>
  outcome(call: AuditedCall, known: KnownOfCall, outcome: AuditedOutcome): void | Promise<void>
  /** The outcome of a call whose user went meanwhile: that there was one. */
  ofNobody(outcome: AuditedOutcome): void | Promise<void>
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
    { stored }: KnownOfCall,
    work: (values: readonly string[]) => T | Promise<T>,
  ): T | Promise<T> => {
    const values = stored ? secrets.list(stored, userId) : NONE
    return values instanceof Promise ? values.then(work) : work(values)
  }
  const masked = (args: JsonObject, { inputSchema }: KnownOfCall, values: readonly string[]) =>
    redact(args, { schema: inputSchema ?? UNKNOWN, secrets: values })
  const asked = (call: AuditedCall, known: KnownOfCall, values: readonly string[]): JsonObject => ({
    caller: call.caller.type,
    ...(call.caller.toolId === undefined ? {} : { toolId: call.caller.toolId.slice(0, 200) }),
    ...(known.decision ? { decision: known.decision.decision, reason: known.decision.reason.slice(0, 500) } : {}),
    ...(known.warnings ? { warnings: known.warnings } : {}),
    arguments: masked(call.arguments, known, values),
    argumentSize: known.argumentSize ?? jsonSize(call.arguments),
  })
  return {
    show: (call, known) =>
      withSecrets(call, known, (secrets) =>
        redact(call.arguments, { schema: known.inputSchema ?? UNKNOWN, secrets, whole: true }),
      ),
    mask: (call, known) => withSecrets(call, known, (values) => masked(call.arguments, known, values)),
    intent: (call, known) =>
      withSecrets(call, known, (values) =>
        record({ ...about(call, known, 'started'), detail: asked(call, known, values) }),
      ),
    ofNobody: ({ status }) => record({ userId: APP_OWNER, action: CALL_ACTION, outcome: status }, true),
    outcome(call, known, { status, reached, durationMs, errorCode, resultSize }) {
      const came: JsonObject = { durationMs: Math.round(durationMs * 1000) / 1000 }
      if (errorCode !== undefined) came.errorCode = errorCode
      if (resultSize !== undefined) came.resultSize = resultSize
      const input = about(call, known, status)
      if (reached) return record({ ...input, detail: came }, true)
      return withSecrets(call, known, (values) =>
        record({ ...input, detail: { ...asked(call, known, values), ...came } }),
      )
    },
  }
}

function about(call: AuditedCall, { stored }: KnownOfCall, outcome: string): AuditInput {
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
