/** Form of a toolkit draft, which user servers and global servers share. */
import { useAppForm } from '../../../lib/form.tsx'
import type { Draft } from './draft.ts'
import { errorsByField, type FieldErrors } from './field-errors.ts'

interface DraftFormOptions {
  initial: Draft
  validate: (draft: Draft) => FieldErrors
  onSubmit: (draft: Draft) => void
}

export function useDraftForm({ initial, validate, onSubmit }: DraftFormOptions) {
  return useAppForm({
    defaultValues: initial,
    validators: { onSubmit: ({ value }) => ({ fields: errorsByField(validate(value)) }) },
    onSubmit: ({ value }) => onSubmit(value),
  })
}

export type DraftForm = ReturnType<typeof useDraftForm>
