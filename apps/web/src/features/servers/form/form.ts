import type { Draft } from './draft.ts'
import type { FieldErrors } from './field-errors.ts'

/** What every part of the form is given: the draft, how to change it, and what is wrong with it. */
export interface Form {
  draft: Draft
  errors: FieldErrors
  change: (changes: Partial<Draft>) => void
}
