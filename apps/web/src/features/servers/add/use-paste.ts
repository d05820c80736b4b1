/** Import state: previews pasted text without writing, then imports the selected entries. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { toast } from 'sonner'
import { answer, client, toolkitsQuery } from '../../../lib/api.ts'
import { useDebounced } from '../../../lib/debounce.ts'
import { counted } from '../../../ui/data/format-time.ts'
import type { ImportedEntry, ImportReport } from '../queries.ts'
import { readPasted } from './read-pasted.ts'

export function usePaste(initial: string, onDone: () => void) {
  const [text, setText] = useState(initial)
  const [values, setValues] = useState<Record<string, string>>({})
  const [choices, setChoices] = useState<Readonly<Record<string, boolean>>>({})
  const [report, setReport] = useState<ImportReport>()
  const pasted = readPasted(text)
  const quiet = useDebounced(useDeferredValue(JSON.stringify({ text, values })))
  const preview = useQuery({
    // Outside the live topics and without cache, because the text contains secrets.
    queryKey: ['import-preview', quiet],
    queryFn: ({ signal }) => send({ ...(JSON.parse(quiet) as Sent), preview: true }, signal),
    enabled: pasted.kind === 'config',
    gcTime: 0,
    retry: false,
    placeholderData: (old) => old,
  })
  const queryClient = useQueryClient()
  const entries = preview.data?.entries ?? []
  // An entry that replaces a server is selected only on request.
  const isSelected = (entry: ImportedEntry) => isReady(entry) && (choices[entry.name] ?? entry.status === 'added')
  const selected = entries.filter(isSelected)
  const save = useMutation({
    mutationFn: () => send({ text, values, only: selected.map(({ name }) => name) }),
    onSuccess: (done) => {
      void queryClient.invalidateQueries(toolkitsQuery())
      const good = done.entries.filter(isReady)
      if (good.length > 0)
        toast.success(`${counted(good.length, 'server')} imported`, { description: 'Their tools are discovered now.' })
      if (good.length === done.entries.length) return onDone()
      setReport(done)
    },
  })
  return {
    text,
    pasted,
    values,
    selected,
    isSelected,
    preview,
    save,
    /** Import report, if some entries failed. */
    report,
    isChanged: text !== initial,
    isFresh: quiet === JSON.stringify({ text, values }) && !preview.isPlaceholderData,
    change: (next: string) => {
      setText(next)
      setChoices({})
      setReport(undefined)
      save.reset()
    },
    clear: () => setText(initial),
    setValue: (name: string, value: string) => setValues((old) => ({ ...old, [name]: value })),
    toggle: (name: string, on: boolean) => setChoices((old) => ({ ...old, [name]: on })),
  }
}

export type Paste = ReturnType<typeof usePaste>

export const isReady = ({ status }: ImportedEntry): boolean => status === 'added' || status === 'updated'

interface Sent {
  text: string
  values: Record<string, string>
  only?: readonly string[]
  preview?: boolean
}

function send({ values, ...body }: Sent, signal?: AbortSignal): Promise<ImportReport> {
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  return answer(
    client.api.mcp.import.$post({ query: {}, json: { ...body, values: filled } }, signal ? { init: { signal } } : {}),
  )
}
