/** Form state of a global server, as fields or as JSON. Concurrent changes are never overwritten silently. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { useExternalChange } from '../../../lib/external-change.tsx'
import { bodyOf, type Draft, draftOf, emptyDraft, isSameDraft } from '../../servers/form/draft.ts'
import { type FieldErrors, mapErrors, validateDraft, withoutErrorsOf } from '../../servers/form/field-errors.ts'
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
  const [{ draft, record, isShared }, setFilled] = useState(base)
  const [format, setFormat] = useState<Format>(formatOf(toolkit))
  const [errors, setErrors] = useState<FieldErrors>({})
  const save = useSaveAppToolkit(toolkit)
  const done = useRef(false)
  const isChanged = !isSame({ draft, record, isShared }, base)
  const begin = useCallback((next: Filled) => {
    setBase(next)
    setFilled(next)
  }, [])
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
  const put = (part: Partial<Filled>) => setFilled((old) => ({ ...old, ...part }))
  const submit = () => {
    const mistakes = format === 'json' ? {} : validateDraft(draft, others)
    setErrors(mistakes)
    if (Object.keys(mistakes).length > 0) return
    const json = { ...(format === 'json' ? (record as object) : bodyOf(draft)), shared: isShared }
    save.mutate(
      { json, isSeen: (now) => isSame(filledBy(now), base) },
      {
        onSuccess: () => {
          done.current = true
          onClose()
        },
        onError: (error) => setErrors(mapErrors(problemOf(error).errors, draft)),
      },
    )
  }
  return {
    format,
    draft,
    record,
    isShared,
    errors,
    save,
    submit,
    setRecord: (next: unknown) => put({ record: next }),
    setShared: (next: boolean) => put({ isShared: next }),
    // A stored toolkit keeps its type: a custom toolkit has no command.
    formats: toolkit ? FORMATS.filter(({ value }) => value === formatOf(toolkit) || value === 'json') : FORMATS,
    choose: (next: Format) => {
      setFormat(next)
      if (next !== 'json') put({ draft: { ...draft, type: next } })
    },
    change: (changes: Partial<Draft>) => {
      setFilled((old) => ({ ...old, draft: { ...old.draft, ...changes } }))
      setErrors((old) => withoutErrorsOf(old, Object.keys(changes)))
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
