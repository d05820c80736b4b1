import type { FieldError } from '../errors.ts'
import { ROOT_PATH } from '../schema/json-schema/run.ts'

/** Errors of a value, at their places in what was sent, and the same as one text. */
export function placesIn(sent: string, found: readonly FieldError[]): { errors: FieldError[]; told: string } {
  const errors = found.map(({ path, message }) => ({
    path: path === ROOT_PATH ? sent : `${sent}.${path}`,
    message,
  }))
  return { errors, told: errors.map(({ path, message }) => `${path}: ${message}`).join('; ') }
}
