/**
 * A log entry before it has a position in the chain. Entries are created during calls, so creation is cheap. Values
 * that a database would reject are sanitized instead of refused: one odd entry must not block others.
 */
import { z } from 'zod'
import { APP_OWNER, ownerId } from '../schema/ids.ts'
import { type JsonObject, jsonObject } from '../schema/json.ts'
import type { AuditRow } from '../schema/records/audit.ts'

const optional = z.string().nullable()

/** Journal format: one line of JSON. */
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

/** Input of `record`. */
export interface AuditInput {
  /** The acting user, or '' for the app. An entry names no other user, so that a user can be erased. */
  userId: string
  /** `toolkit_registered`, `grant_revoked`, … */
  action: string
  /** `mcp:{toolkitId}` for entries about a toolkit. */
  source?: string | undefined
  threadId?: string | undefined
  runId?: string | undefined
  callId?: string | undefined
  ref?: string | undefined
  outcome?: string | undefined
  /** Must be redacted by the caller. */
  detail?: JsonObject | undefined
}

export const CALL_ACTION = 'mcp_tool_call'
const MAX_TEXT_LENGTH = 400
/** A larger detail is replaced by its length. Details are bounded long before this limit. */
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

/** The columns of a row that come from an entry. */
export type AuditContent = Omit<AuditRow, 'auditId' | 'prevHash' | 'contentHash' | 'salt' | 'hash'>

/** Converts an entry to columns that every database accepts. */
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

/** Replaces NUL and lone surrogates, which databases reject. */
export const storableText = (text: string) =>
  (text.includes('\0') ? text.replaceAll('\0', '\u2400') : text).toWellFormed()

function storableDetail(detail: JsonObject): JsonObject {
  const text = JSON.stringify(detail)
  if (text.length > MAX_DETAIL_LENGTH) return { cut: text.length }
  // JSON escapes the characters that a database rejects; most entries have none.
  return /\\u(0000|d[89a-f])/i.test(text) ? (sanitizeJson(detail) as JsonObject) : detail
}

function sanitizeJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(sanitizeJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), sanitizeJson(inner)]))
}
