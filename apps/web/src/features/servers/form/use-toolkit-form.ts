import { useStore } from '@tanstack/react-form'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, type SubmitEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { problemOf, type Toolkit } from '../../../lib/api.ts'
import { useExternalChange } from '../../../lib/external-change.tsx'
import { setErrors, submitForm } from '../../../lib/form.tsx'
import { type StdioRules, stdioQuery } from '../queries.ts'
import { bodyOf, type Draft, draftOf, isSameDraft } from './draft.ts'
import { errorsByField, isPlaced, mapErrors, validateDraft } from './field-errors.ts'
import { type DraftForm, useDraftForm } from './use-draft-form.ts'
import { useSendToolkit } from './use-send-toolkit.ts'

interface ToolkitForm {
  form: DraftForm
  /** Stdio policy, once loaded. */
  rules: StdioRules | undefined
  element: RefObject<HTMLFormElement | null>
  isChanged: boolean
  isSaving: boolean
  /** Stops adding and deletes the new toolkit; undefined otherwise. */
  stop: (() => void) | undefined
  isStopping: boolean
  /** Problem of the API response. */
  problem: Error | null
  /** Whether all errors are shown at fields. */
  isPlaced: boolean
  /** The stored toolkit: edited, or added without a working connection. */
  stored: Toolkit | undefined
  /** Whether the saved server cannot connect. */
  failed: boolean
  /** Another save of the same toolkit: take it, or overwrite it with the next save. */
  elsewhere: { take: () => void; keep: () => void } | undefined
  submit: (event: SubmitEvent<HTMLFormElement>) => void
}

interface Options {
  initial: Draft
  toolkit: Toolkit | undefined
  /** Other toolkits of the user, whose names are taken. */
  others: readonly Toolkit[]
  onSaved: () => void
}

/** An unreachable server stays in the form, so that the user can fix it there. */
export function useToolkitForm({ initial, toolkit, others, onSaved }: Options): ToolkitForm {
  const [start, setStart] = useState(initial)
  // The form can open with a change, such as a requested token.
  const [base, setBase] = useState(() => (toolkit ? draftOf(toolkit) : initial))
  const [stored, setStored] = useState(toolkit)
  const [failed, setFailed] = useState(false)
  const { save, send, stop, isStopping } = useSendToolkit(stored, onSaved)
  const { data: rules } = useQuery(stdioQuery())

  const form = useDraftForm({
    initial: start,
    validate: (draft) =>
      validateDraft(
        draft,
        others.filter(({ uscoId }) => uscoId !== stored?.uscoId),
        rules,
      ),
    onSubmit: (draft) =>
      send(draft.name, bodyOf(draft), {
        isSeen: (found) => isSameDraft(draftOf(found), base),
        onSuccess: onAnswer,
        onError: (error) => setErrors(form, errorsByField(mapErrors(problemOf(error).errors, draft))),
      }),
  })
  const element = useFocusOnError(form)
  const draft = useStore(form.store, ({ values }) => values)

  const begin = useCallback(
    (next: Draft) => {
      setStart(next)
      setBase(next)
      form.reset(next)
    },
    [form],
  )
  const isChanged = JSON.stringify(bodyOf(draft)) !== JSON.stringify(bodyOf(base))
  const now = useDraftOf(stored && (toolkit ?? others.find(({ uscoId }) => uscoId === stored.uscoId)))
  const { elsewhere, pass } = useExternalChange({
    stored: now,
    base,
    isSame: isSameDraft,
    isChanged,
    isSaving: save.isPending,
    take: begin,
    keep: setBase,
    onResolved: save.reset,
  })

  const onAnswer = (saved: Toolkit) => {
    if (!isBroken(saved)) return onSaved()
    pass(now)
    setStored(saved)
    begin(draftOf(saved))
    setFailed(true)
  }

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (save.isPending) return
    setFailed(false)
    save.reset()
    void submitForm(form)
  }

  return {
    form,
    rules,
    element,
    isChanged,
    elsewhere,
    isSaving: save.isPending,
    stop,
    isStopping,
    // `EditConflict` shows the problem of a concurrent save.
    problem: elsewhere ? null : save.error,
    isPlaced: save.error !== null && isPlaced(problemOf(save.error).errors),
    stored,
    failed,
    submit,
  }
}

const useDraftOf = (toolkit: Toolkit | undefined) => useMemo(() => toolkit && draftOf(toolkit), [toolkit])

const isBroken = ({ enabled, state }: Toolkit) =>
  enabled && (state.status === 'error' || state.status === 'sign-in-needed')

// The first invalid field gets the focus when errors appear, not while they are fixed.
function useFocusOnError(form: DraftForm) {
  const element = useRef<HTMLFormElement>(null)
  const before = useRef(0)
  const count = useStore(
    form.store,
    ({ fieldMeta }) => Object.values(fieldMeta).filter((meta) => meta?.errors.length).length,
  )
  useEffect(() => {
    if (count > before.current) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    before.current = count
  }, [count])
  return element
}
