/** Whether a row may be stored, the same for every driver: its schema says so, and no text in it holds a NUL. */
import { HostError } from '../errors.ts'
import { type Collection, specOf } from './collections.ts'

type RowObject = Record<string, unknown>

export function checkRow(collection: Collection, row: RowObject): void {
  const checked = specOf(collection).row.safeParse(row)
  if (!checked.success) throw invalidRow(collection, checked.error)
  if (hasNul(row)) throw invalidRow(collection)
}

/** The fields of a change, before it is sent; the whole row is checked once it is known. */
export function checkFields(collection: Collection, fields: RowObject): void {
  const { shape } = specOf(collection).row
  for (const [name, value] of Object.entries(fields)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (!field?.safeParse(value).success) throw invalidRow(collection)
  }
  if (hasNul(fields)) throw invalidRow(collection)
}

/** PostgreSQL keeps no NUL in text or JSON, so nothing that is stored has one either. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => hasNul(name) || hasNul(inner))
}

function invalidRow(collection: Collection, cause?: unknown): HostError {
  return new HostError('invalid-row', { detail: `A row of "${collection}" is not valid.`, cause })
}
