/** Form state of a global server, as fields or as JSON. Concurrent changes are never overwritten silently. */
import { useStore } from '@tanstack/react-form'
import { useCallback, useMemo, useRef, useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { useExternalChange } from '../../../lib/external-change.tsx'
import { setErrors, submitForm, useAppForm } from '../../../lib/form.tsx'
import { bodyOf, type Draft, draftOf, emptyDraft, isSameDraft } from '../../servers/form/draft.ts'
import { errorsByField, mapErrors, validateDraft } from '../../servers/form/field-errors.ts'
import { useDraftForm } from '../../servers/form/use-draft-form.ts'
import type { AppToolkit } from '../queries.ts'
import { useSaveAppToolkit } from '../system/use-app.ts'

type Format = 'stdio' | 'http' | 'json'
const FORMATS = [
  { value: 'stdio', label: 'Command' },
  { value: 'http', label: 'URL' },
  { value: 'json', label: 'JSON' },
] as const

/** Initial JSON record, for custom toolkits and for options without a field. */
const START = { name: '', tools: [] }

interface Filled {
  draft: Draft
  record: unknown
  isShared: boolean
}

interface Options {
  toolkit: AppToolkit | undefined
  others: readonly AppToolkit[]
  onClose: () => void
}

export function useAppToolkitForm({ toolkit, others, onClose }: Options) {
  const stored = useMemo(() => toolkit && filledBy(toolkit), [toolkit])
  const [base, setBase] = useState<Filled>(
    () => stored ?? { draft: emptyDraft('stdio'), record: START, isShared: false },
  )
  const [start, setStart] = useState(base)
  const [format, setFormat] = useState<Format>(formatOf(toolkit))
  const save = useSaveAppToolkit(toolkit)
  const done = useRef(false)
  const form = useDraftForm({
    initial: start.draft,
    validate: (filled) => (format === 'json' ? {} : validateDraft(filled, others)),
    onSubmit: (filled) => {
      const json = { ...(format === 'json' ? (record as object) : bodyOf(filled)), shared: isShared }
      save.mutate(
        { json, isSeen: (now) => isSame(filledBy(now), base) },
        {
          onSuccess: () => {
            done.current = true
            onClose()
          },
          onError: (error) => setErrors(form, errorsByField(mapErrors(problemOf(error).errors, filled))),
        },
      )
    },
  })
  // Beside the draft: the JSON record replaces it, and only global servers can be shared.
  const extras = useAppForm({ defaultValues: { record: start.record, isShared: start.isShared } })
  const draft = useStore(form.store, ({ values }) => values)
  const { record, isShared } = useStore(extras.store, ({ values }) => values)
  const isChanged = !isSame({ draft, record, isShared }, base)
  const begin = useCallback(
    (next: Filled) => {
      setBase(next)
      setStart(next)
      form.reset(next.draft)
      extras.reset({ record: next.record, isShared: next.isShared })
    },
    [form, extras],
  )
  const { elsewhere } = useExternalChange({
    stored,
    base,
    isSame,
    isChanged,
    isSaving: save.isPending,
    take: begin,
    keep: setBase,
    onResolved: save.reset,
  })
  return {
    format,
    form,
    record,
    isShared,
    save,
    submit: () => submitForm(form),
    setRecord: (next: unknown) => extras.setFieldValue('record', next),
    setShared: (next: boolean) => extras.setFieldValue('isShared', next),
    // A stored toolkit keeps its type: a custom toolkit has no command.
    formats: toolkit ? FORMATS.filter(({ value }) => value === formatOf(toolkit) || value === 'json') : FORMATS,
    choose: (next: Format) => {
      setFormat(next)
      if (next !== 'json') form.setFieldValue('type', next)
    },
    elsewhere,
    recordProblems: save.error ? (problemOf(save.error).errors ?? []) : [],
    wouldLose: () => !done.current && isChanged,
  }
}

const filledBy = (toolkit: AppToolkit): Filled => ({
  draft: draftOf(toolkit),
  record: { name: toolkit.name, server: toolkit.server },
  isShared: toolkit.options.shared,
})

const isSame = (one: Filled, other: Filled): boolean =>
  isSameDraft(one.draft, other.draft) &&
  JSON.stringify([one.record, one.isShared]) === JSON.stringify([other.record, other.isShared])

function formatOf(toolkit: AppToolkit | undefined): Format {
  if (!toolkit || toolkit.server.type === 'stdio') return 'stdio'
  return toolkit.server.type === 'custom' ? 'json' : 'http'
}
