import { type RefObject, type SubmitEvent, useEffect, useRef, useState } from 'react'
import { problemOf, type Toolkit } from '../../api.ts'
import { bodyOf, type Draft } from './draft.ts'
import { type FieldErrors, findMistakes, isPlaced, placeErrors, withoutErrorsOf } from './field-errors.ts'
import type { Form } from './form.ts'
import { useSaveToolkit } from './use-toolkits.ts'

interface ToolkitForm {
  form: Form
  element: RefObject<HTMLFormElement | null>
  isChanged: boolean
  isSaving: boolean
  /** A problem that the API answered with. */
  problem: Error | null
  /** Whether all that it says stands at the fields. */
  isPlaced: boolean
  submit: (event: SubmitEvent<HTMLFormElement>) => void
}

interface Options {
  initial: Draft
  toolkit: Toolkit | undefined
  /** The user's other toolkits, whose names are taken. */
  others: readonly Toolkit[]
  onSaved: () => void
}

export function useToolkitForm({ initial, toolkit, others, onSaved }: Options): ToolkitForm {
  const [draft, setDraft] = useState(initial)
  const [errors, setErrors] = useState<FieldErrors>({})
  const element = useFocusOnError(errors)
  const save = useSaveToolkit(toolkit)

  const change = (changes: Partial<Draft>) => {
    setDraft((old) => ({ ...old, ...changes }))
    setErrors((old) => withoutErrorsOf(old, Object.keys(changes)))
  }

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (save.isPending) return
    const mistakes = findMistakes(draft, others)
    setErrors(mistakes)
    save.reset()
    if (Object.keys(mistakes).length > 0) return
    save.mutate(bodyOf(draft), {
      onSuccess: onSaved,
      onError: (error) => setErrors(placeErrors(problemOf(error).errors, draft)),
    })
  }

  return {
    form: { draft, errors, change },
    element,
    isChanged: JSON.stringify(bodyOf(draft)) !== JSON.stringify(bodyOf(initial)),
    isSaving: save.isPending,
    problem: save.error,
    isPlaced: save.error !== null && isPlaced(problemOf(save.error).errors),
    submit,
  }
}

// The first field that is wrong gets the focus when errors arrive, not when they are mended one by one.
function useFocusOnError(errors: FieldErrors) {
  const element = useRef<HTMLFormElement>(null)
  const before = useRef(0)
  const count = Object.keys(errors).length
  useEffect(() => {
    if (count > before.current) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    before.current = count
  }, [count])
  return element
}
