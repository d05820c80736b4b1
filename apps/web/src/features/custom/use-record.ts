/** Editor state: the JSON text, its parsed value, and server-side validation while the user types. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useRef, useState } from 'react'
import { toast } from 'sonner'
import { answer, client, problemOf, type Toolkit, toolkitsQuery } from '../../lib/api.ts'
import { useDebounced } from '../../lib/debounce.ts'
import { ifUnchanged, useExternalChange } from '../../lib/external-change.tsx'
import { readJson } from '../schema-form/read-json.ts'
import { type FieldProblem, placed } from './custom-problems.ts'
import {
  type CustomRecord,
  isDrawable,
  isSame,
  NEW_RECORD,
  type RecordDraft,
  recordOf,
  recordText,
} from './custom-record.ts'

export interface RecordState {
  name: string
  text: string
  /** Parsed text; undefined if it is not JSON. */
  value: unknown
  /** Record that the form can show. */
  record: CustomRecord | undefined
  problems: readonly FieldProblem[]
  warnings: readonly string[]
  /** Whether the last check covers the current text. */
  isChecked: boolean
  isChanged: boolean
  /** Increments when a save replaces the shown text. */
  revision: number
  /** Another save of the same toolkit: take it, or overwrite it with the next save. */
  elsewhere: { take: () => void; keep: () => void } | undefined
  setName: (name: string) => void
  setText: (text: string) => void
  setRecord: (record: CustomRecord) => void
  save: ReturnType<typeof useSave>
}

export function useRecord(toolkit: Toolkit | undefined, onSaved: (uscoId: string) => void): RecordState {
  const [base, setBase] = useState(() => startOf(toolkit))
  const [{ name, text }, setDraft] = useState(base)
  const [revision, setRevision] = useState(0)
  const read = readJson(text)
  const value = read.ok ? read.value : undefined
  const check = useCheck({ name, text, uscoId: toolkit?.uscoId, isReadable: read.ok })
  const latest = useRef({ name, text })
  latest.current = { name, text }
  const stored = useMemo(() => (toolkit ? startOf(toolkit) : undefined), [toolkit])
  const take = useCallback((next: RecordDraft) => {
    setBase(next)
    setDraft(next)
    setRevision((old) => old + 1)
  }, [])
  const isChanged = name !== base.name || text !== base.text
  const save = useSave(toolkit, base, (saved, sent) => {
    const next = startOf(saved)
    pass(stored)
    setBase(next)
    // Text typed during the save stays unsaved.
    if (JSON.stringify(latest.current) === JSON.stringify(sent)) {
      setDraft(next)
      setRevision((old) => old + 1)
    }
    onSaved(saved.uscoId)
  })
  const { elsewhere, pass } = useExternalChange({
    stored,
    base,
    isSame,
    isChanged,
    isSaving: save.isPending,
    take,
    keep: setBase,
    onResolved: save.reset,
  })
  const saveProblems = save.error ? placed(problemOf(save.error).errors ?? []) : []
  const change = (next: Partial<{ name: string; text: string }>) => {
    setDraft((old) => ({ ...old, ...next }))
    save.reset()
  }
  return {
    name,
    text,
    value,
    record: isDrawable(value) ? value : undefined,
    problems: saveProblems.length > 0 ? saveProblems : check.problems,
    warnings: check.warnings,
    isChecked: check.isFresh,
    isChanged,
    elsewhere,
    revision,
    setName: (next) => change({ name: next }),
    setText: (next) => change({ text: next }),
    setRecord: (next) => change({ text: recordText(next) }),
    save,
  }
}

const startOf = (toolkit: Pick<Toolkit, 'name' | 'server'> | undefined) =>
  toolkit ? { name: toolkit.name, text: recordText(recordOf(toolkit)) } : { name: '', text: recordText(NEW_RECORD) }

function useSave(
  toolkit: Toolkit | undefined,
  base: RecordDraft,
  onSaved: (saved: Toolkit, sent: RecordDraft) => void,
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ name, text }: RecordDraft): Promise<Toolkit> => {
      const config_json = JSON.parse(text) as Record<string, unknown>
      if (toolkit) {
        const headers = await ifUnchanged<Toolkit>({
          reading: client.api.mcp[':id'].$get({ param: { id: toolkit.uscoId } }),
          isSeen: (now) => isSame(startOf(now), base),
          onNews: (now) => {
            queryClient.setQueryData(toolkitsQuery().queryKey, (old) =>
              old?.map((item) => (item.uscoId === now.uscoId ? now : item)),
            )
          },
        })
        // A patch preserves switches and options.
        const json = { name: name.trim(), server: { ...config_json, type: 'custom' } }
        return answer(client.api.mcp[':id'].$patch({ param: { id: toolkit.uscoId }, json }, { headers }))
      }
      const json = { name: name.trim(), config_type: 'custom' as const, config_json }
      const { usco_id } = await answer(client.api.mcp.config.$post({ json }))
      await answer(client.api.mcp.config.introspect.$post({ json: { uscoId: usco_id } }))
      return answer(client.api.mcp[':id'].$get({ param: { id: usco_id } }))
    },
    onSuccess: (saved, sent) => {
      toast.success(`${saved.name} saved`, {
        description: `${saved.toolCount} ${saved.toolCount === 1 ? 'tool' : 'tools'}.`,
      })
      onSaved(saved, sent)
    },
    onSettled: () => queryClient.invalidateQueries(toolkitsQuery()),
  })
}

function useCheck({
  name,
  text,
  uscoId,
  isReadable,
}: RecordDraft & { uscoId: string | undefined; isReadable: boolean }) {
  const quiet = useDebounced(JSON.stringify({ name, text }))
  const draft = JSON.parse(quiet) as RecordDraft
  const { data, isPlaceholderData } = useQuery({
    // Outside the live topics and without cache, because the text may contain secrets.
    queryKey: ['custom-check', uscoId, quiet],
    queryFn: ({ signal }) => {
      const config_json = JSON.parse(draft.text) as Record<string, unknown>
      const json = { name: draft.name.trim() || 'Unnamed', config_json, ...(uscoId === undefined ? {} : { uscoId }) }
      return answer(client.api.mcp.config.check.$post({ json }, { init: { signal } }))
    },
    enabled: isReadable && readJson(draft.text).ok && isObjectText(draft.text),
    placeholderData: (old) => old,
    gcTime: 0,
    retry: false,
  })
  return {
    problems: placed(data?.errors ?? []),
    warnings: data?.warnings ?? [],
    isFresh: data !== undefined && !isPlaceholderData && quiet === JSON.stringify({ name, text }),
  }
}

const isObjectText = (text: string) => text.trimStart().startsWith('{')
