/** Validates rows before they are stored, the same for every driver: by schema, and without NUL in any text. */
import { HostError } from '../errors.ts'
import { type Collection, specOf } from './collections.ts'

type RowObject = Record<string, unknown>

export function checkRow(collection: Collection, row: RowObject): void {
  const checked = specOf(collection).row.safeParse(row)
  if (!checked.success) throw invalidRow(collection, checked.error)
  if (hasNul(row)) throw invalidRow(collection)
}

/** Validates changed fields; the whole row is validated after the change. */
export function checkFields(collection: Collection, fields: RowObject): void {
  const { shape } = specOf(collection).row
  for (const [name, value] of Object.entries(fields)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (!field?.safeParse(value).success) throw invalidRow(collection)
  }
  if (hasNul(fields)) throw invalidRow(collection)
}

/** PostgreSQL stores no NUL in text or JSON, so no driver does. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => hasNul(name) || hasNul(inner))
}

function invalidRow(collection: Collection, cause?: unknown): HostError {
  return new HostError('invalid-row', { detail: `A row of "${collection}" is not valid.`, cause })
}
