/** Lines for a spreadsheet. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
import type { AuditView } from '../schema/audit.ts'

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

export function csvLine(item: AuditView): string {
  return `${COLUMNS.map((name) => cell(item[name])).join(',')}\r\n`
}

export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // Also behind spaces and signs that some programs leave away before they look.
  const safe = /^[\s\0]*[=+\-@\t\r|%＝＋－＠]/.test(text) ? `'${text}` : text
  return /[",\r\n';\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
