/**
 * One line of the log before it has its place in the chain. It is made on the way of a call, so making one is cheap; what
 * it holds is bounded and has no secret in it. What a row could not store is mended here, never refused: a line that is
 * too odd to be kept must not keep others from it.
 */
import { z } from 'zod'
import { APP_OWNER, ownerId } from '../schema/ids.ts'
import { type JsonObject, jsonObject } from '../schema/json.ts'
import type { AuditRow } from '../schema/records/audit.ts'

const optional = z.string().nullable()

/** As it stands in a journal: one line of JSON. */
export const auditEntry = z.strictObject({
  entryId: z.string().min(1).max(100),
  userId: z.string(),
  /** Milliseconds since 1970. */
  at: z.number().int().min(0).max(8_640_000_000_000_000),
  action: z.string(),
  source: z.string(),
  threadId: optional,
  runId: optional,
  callId: optional,
  ref: optional,
  outcome: optional,
  detail: jsonObject,
})
export type AuditEntry = z.infer<typeof auditEntry>

/** What somebody wants to be remembered. */
export interface AuditInput {
  /** Who did it, or '' for the app itself. Nobody else is named, so that a person can be removed. */
  userId: string
  /** `toolkit_registered`, `grant_revoked`, … */
  action: string
  /** `mcp:{toolkitId}` where it is about one. */
  source?: string | undefined
  threadId?: string | undefined
  runId?: string | undefined
  callId?: string | undefined
  ref?: string | undefined
  outcome?: string | undefined
  /** Redacted already. */
  detail?: JsonObject | undefined
}

export const CALL_ACTION = 'mcp_tool_call'
const MAX_TEXT_LENGTH = 400
/** A larger detail is not kept: what is made here is bounded long before this. */
const MAX_DETAIL_LENGTH = 16_384

export function newEntry(entryId: string, input: AuditInput): AuditEntry {
  return {
    entryId,
    userId: input.userId,
    at: Date.now(),
    action: input.action,
    source: input.source ?? '',
    threadId: input.threadId ?? null,
    runId: input.runId ?? null,
    callId: input.callId ?? null,
    ref: input.ref ?? null,
    outcome: input.outcome ?? null,
    detail: input.detail ?? {},
  }
}

/** What of a row an entry fills. */
export type AuditContent = Omit<AuditRow, 'auditId' | 'prevHash' | 'contentHash' | 'salt' | 'hash'>

/** An entry as it can be stored. */
export function contentOf(entry: AuditEntry): AuditContent {
  const text = (value: string | null) => (value === null ? null : storableText(value).slice(0, MAX_TEXT_LENGTH))
  return {
    entryId: storableText(entry.entryId),
    userId: ownerId.safeParse(entry.userId).success ? entry.userId : APP_OWNER,
    at: new Date(entry.at),
    action: storableText(entry.action).slice(0, 100) || 'unknown',
    source: storableText(entry.source).slice(0, 200),
    threadId: text(entry.threadId),
    runId: text(entry.runId),
    callId: text(entry.callId),
    ref: text(entry.ref),
    outcome: text(entry.outcome),
    detailJson: storableDetail(entry.detail),
  }
}

/** No NUL and no half character: databases refuse both. */
export const storableText = (text: string) =>
  (text.includes('\0') ? text.replaceAll('\0', '\u2400') : text).toWellFormed()

function storableDetail(detail: JsonObject): JsonObject {
  const text = JSON.stringify(detail)
  if (text.length > MAX_DETAIL_LENGTH) return { cut: text.length }
  // Escapes are how JSON writes what a database refuses; most lines have none.
  return /\\u(0000|d[89a-f])/i.test(text) ? (sanitizeJson(detail) as JsonObject) : detail
}

function sanitizeJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(sanitizeJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), sanitizeJson(inner)]))
}
