/** Reads the log in pages, newest first, or exports it. Users read their own entries, operators all entries. */

import type { AuditRow, AuditView } from '../schema/records/audit.ts'
import type { Access, RowQuery, Storage } from '../storage/storage.ts'

/** A user, or an operator who reads all entries. */
export type AuditReader = { userId: string } | { everyone: true }

export interface AuditFilter {
  /** Entries of one user; for operators. */
  userId?: string | undefined
  action?: string | undefined
  toolkit?: string | undefined
  ref?: string | undefined
  outcome?: string | undefined
  threadId?: string | undefined
  callId?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** Caller (`direct`, `code`, `workflow`) and decision of a call. Only the entry with the arguments has them. */
  caller?: string | undefined
  decision?: string | undefined
}

export interface AuditPage {
  /** ID of the last entry of the previous page. */
  cursor?: string | undefined
  /** @default 100 */
  limit?: number | undefined
}

export type AuditExportFormat = 'csv' | 'jsonl'

const PAGE = 100
const EXPORT_PAGE = 1000
/** Maximum number of entries scanned per page when filtering by a field of `detail`. */
const MAX_SCANNED = 10_000

export async function listLog(
  storage: Storage,
  reader: AuditReader,
  { filter, page }: { filter: AuditFilter; page: AuditPage },
): Promise<{ items: AuditView[]; nextCursor?: string }> {
  const { caller, decision } = filter
  if (caller !== undefined || decision !== undefined) return listFiltered(storage, reader, { filter, page })
  const { cursor: after, limit = PAGE } = page
  const query = { ...queryOf(reader, filter), ...(after === undefined ? {} : { after }), limit: limit + 1 }
  // One extra row shows whether there is a next page.
  const rows = await storage.transaction(accessOf(reader), (tx) => tx.list('audit', query))
  const items = rows.slice(0, limit).map(toAuditView)
  const last = rows.length > limit ? items.at(-1) : undefined
  return { items, ...(last ? { nextCursor: last.id } : {}) }
}

/** Filters by fields of `detail`, which no storage can query. A page may be short and still have a next page. */
async function listFiltered(
  storage: Storage,
  reader: AuditReader,
  { filter: { caller, decision, ...filter }, page }: { filter: AuditFilter; page: AuditPage },
): Promise<{ items: AuditView[]; nextCursor?: string }> {
  const { limit = PAGE } = page
  const matches = ({ detail }: AuditView) =>
    (caller === undefined || detail.caller === caller) && (decision === undefined || detail.decision === decision)
  const items: AuditView[] = []
  let { cursor } = page
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += EXPORT_PAGE) {
    const next = await listLog(storage, reader, { filter, page: { cursor, limit: EXPORT_PAGE } })
    items.push(...next.items.filter(matches))
    cursor = next.nextCursor
    const last = items.length > limit ? items[limit - 1] : undefined
    if (last) return { items: items.slice(0, limit), nextCursor: last.id }
    if (cursor === undefined) return { items }
  }
  return { items, ...(cursor === undefined ? {} : { nextCursor: cursor }) }
}

/** Streams page by page, so that memory use does not depend on the length of the log. */
export async function* exportLog(
  storage: Storage,
  reader: AuditReader,
  { filter, format }: { filter: AuditFilter; format: AuditExportFormat },
): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_HEAD
  for (let cursor: string | undefined; ; ) {
    const page = await listLog(storage, reader, { filter, page: { cursor, limit: EXPORT_PAGE } })
    const lines = page.items.map((item) => (format === 'csv' ? csvRow(item) : `${JSON.stringify(item)}\n`))
    if (lines.length > 0) yield lines.join('')
    cursor = page.nextCursor
    if (cursor === undefined) return
  }
}

function accessOf(reader: AuditReader): Access {
  return 'everyone' in reader ? { caller: 'audit-reading' } : { userId: reader.userId }
}

function queryOf(reader: AuditReader, filter: AuditFilter): RowQuery<'audit'> {
  const { toolkit, from, to, userId, caller: _, decision: __, ...fields } = filter
  const conditions = Object.entries(fields).filter(([, value]) => value !== undefined)
  const owner = 'everyone' in reader ? userId : reader.userId
  return {
    where: {
      ...Object.fromEntries(conditions),
      ...(owner === undefined ? {} : { userId: owner }),
      ...(toolkit === undefined ? {} : { source: `mcp:${toolkit}` }),
    },
    ...(from || to ? { between: { field: 'at', from, to } } : {}),
    order: 'desc',
  }
}

export function toAuditView(row: AuditRow): AuditView {
  const { auditId: id, at, userId, action, source, ref, outcome, threadId, runId, callId, detailJson, hash } = row
  return {
    id,
    at: at.toISOString(),
    userId,
    action,
    source,
    ref,
    outcome,
    threadId,
    runId,
    callId,
    detail: detailJson,
    hash,
  }
}

/** Columns of the CSV export. */
const COLUMNS = [
  'id',
  'at',
  'userId',
  'action',
  'source',
  'ref',
  'outcome',
  'threadId',
  'runId',
  'callId',
  'detail',
  'hash',
] as Array<keyof AuditView>

export const CSV_HEAD = `${COLUMNS.join(',')}\r\n`

export function csvRow(item: AuditView): string {
  return `${COLUMNS.map((name) => cell(item[name])).join(',')}\r\n`
}

export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A spreadsheet would run such a cell as a formula, also after leading spaces or control characters.
  const safe = /^[\s\0]*[=+\-@\t\r|%＝＋－＠]/.test(text) ? `'${text}` : text
  return /[",\r\n';\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
