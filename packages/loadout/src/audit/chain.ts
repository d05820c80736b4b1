/**
 * Hash chain of the log. The hash of a row covers the hash of the previous row, its sequence number, entry ID, time,
 * action and a salted hash of all other fields. Erasing a user deletes these fields and the salt, so the remaining row
 * still proves its position but reveals nothing. Pruned rows end at an anchor.
 */

import { APP_OWNER } from '../schema/ids.ts'
import type { AuditRow } from '../schema/records/audit.ts'
import { sha256Hex } from '../util/hash.ts'
import type { AuditContent } from './entry.ts'

/** SHA-256 as 64 hexadecimal digits, synchronous or asynchronous. */
export type Sha256 = (text: string) => string | Promise<string>

/** One end of a section of the chain. */
export interface ChainEnd {
  seq: number
  hash: string
}

export const GENESIS: ChainEnd = { seq: 0, hash: '0'.repeat(64) }

const DIGITS = 15

/** Padded, so that IDs sort in chain order. */
export const auditIdOf = (seq: number) => `audt_${String(seq).padStart(DIGITS, '0')}`

export const seqOf = (auditId: string) => Number(auditId.slice('audt_'.length))

/** Uses WebCrypto. `fileJournal` provides a faster hash on Node. */
export const webSha256: Sha256 = (text) => sha256Hex(text)

/** A row without its sequence number, so that it can be hashed before the transaction. */
export type SealedContent = AuditContent & Pick<AuditRow, 'salt' | 'contentHash'>

export async function sealContents(contents: readonly AuditContent[], sha256: Sha256): Promise<SealedContent[]> {
  const salts = newSalts(contents.length)
  const hashes = contents.map((content, index) => sha256(contentText(salts[index] as string, content)))
  const digests = await Promise.all(hashes)
  return contents.map((content, index) => ({
    ...content,
    salt: salts[index] as string,
    contentHash: digests[index] as string,
  }))
}

/** Links rows to `end`. */
export async function chainRows(
  contents: readonly SealedContent[],
  end: ChainEnd,
  sha256: Sha256,
): Promise<{ rows: AuditRow[]; end: ChainEnd }> {
  const rows: AuditRow[] = []
  let { seq, hash: prevHash } = end
  for (const content of contents) {
    seq++
    const row = { ...content, auditId: auditIdOf(seq), prevHash }
    const digest = sha256(rowText(row))
    const hash = typeof digest === 'string' ? digest : await digest
    rows.push({ ...row, hash })
    prevHash = hash
  }
  return { rows, end: { seq, hash: prevHash } }
}

/** The part of a row that stays when its user is erased. */
export function erasedRow(row: AuditRow): AuditRow {
  return { ...row, ...ERASED, userId: APP_OWNER, salt: null }
}

const ERASED = {
  source: '',
  threadId: null,
  runId: null,
  callId: null,
  ref: null,
  outcome: null,
  detailJson: {},
} as const

export type ChainVerdict = { ok: true; rows: number } | { ok: false; rows: number; auditId: string; reason: string }

/**
 * Verifies that the rows form the chain from after `anchor` to `head`. Rows up to the anchor are skipped because they
 * may be pruned already. Without a head, the end is not verified.
 */
export async function verifyChain(
  rows: AsyncIterable<AuditRow> | Iterable<AuditRow>,
  { anchor = GENESIS, head, sha256 = webSha256 }: { anchor?: ChainEnd; head?: ChainEnd | undefined; sha256?: Sha256 },
): Promise<ChainVerdict> {
  let end = anchor
  for await (const row of rows) {
    if (row.auditId <= auditIdOf(anchor.seq)) continue
    const reason = await findBreak(row, end, sha256)
    if (reason) return { ok: false, rows: end.seq - anchor.seq, auditId: row.auditId, reason }
    end = { seq: end.seq + 1, hash: row.hash }
  }
  if (head && (head.seq !== end.seq || head.hash !== end.hash))
    return {
      ok: false,
      rows: end.seq - anchor.seq,
      auditId: auditIdOf(end.seq + 1),
      reason: `the log ends at ${auditIdOf(end.seq)}, and should end at ${auditIdOf(head.seq)}`,
    }
  return { ok: true, rows: end.seq - anchor.seq }
}

async function findBreak(row: AuditRow, end: ChainEnd, sha256: Sha256): Promise<string | undefined> {
  const expected = auditIdOf(end.seq + 1)
  if (row.auditId !== expected) return `${expected} should stand here`
  if (row.prevHash !== end.hash) return 'it does not follow the row before it'
  if (row.salt === null) {
    if (contentText('', row) !== contentText('', erasedRow(row))) return 'it has no salt, but it was not erased'
  } else if ((await sha256(contentText(row.salt, row))) !== row.contentHash) return 'its content was changed'
  return (await sha256(rowText(row))) === row.hash ? undefined : 'its place, time, action or hash was changed'
}

function rowText(row: Omit<AuditRow, 'hash'>): string {
  const { prevHash, auditId, entryId, at, action, contentHash } = row
  return JSON.stringify([prevHash, auditId, entryId, at.getTime(), action, contentHash])
}

function contentText(salt: string, row: AuditContent): string {
  const { userId, source, threadId, runId, callId, ref, outcome, detailJson } = row
  return JSON.stringify([salt, userId, source, threadId, runId, callId, ref, outcome, canonical(detailJson)])
}

/** JSON with sorted keys. Hand-written because it runs for every entry. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  let text = ''
  for (const name of Object.keys(value).sort()) {
    const inner = (value as Record<string, unknown>)[name]
    if (inner !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonical(inner)}`
  }
  return `{${text}}`
}

function newSalts(count: number): string[] {
  const bytes = crypto.getRandomValues(new Uint8Array(count * 16))
  return Array.from({ length: count }, (_, index) => {
    let hex = ''
    for (const byte of bytes.subarray(index * 16, index * 16 + 16)) hex += byte.toString(16).padStart(2, '0')
    return hex
  })
}
