import type { Draft } from './draft.ts'
import type { FieldErrors } from './field-errors.ts'

/** Props of every part of the form. */
export interface Form {
  draft: Draft
  errors: FieldErrors
  change: (changes: Partial<Draft>) => void
}
