import type { UseMutationResult } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { UnsavedDialog, useUnsaved } from '../../../lib/unsaved.tsx'
import { Button } from '../../../ui/form/button.tsx'
import type { PolicyRule, RuleRow } from '../queries.ts'
import { RuleForm } from './rule-form.tsx'

interface RulesEditorProps {
  stored: readonly PolicyRule[]
  save: UseMutationResult<unknown, Error, PolicyRule[]>
  /** Text for an empty list. */
  empty: ReactNode
}

/** Ordered rules of one tier, saved together. */
export function RulesEditor({ stored, save, empty }: RulesEditorProps) {
  const [edited, setEdited] = useState<readonly RuleRow[]>()
  const rows = edited ?? stored.map((rule, key) => ({ key, rule }))
  const rules = rows.map(({ rule }) => rule)
  const isChanged = edited !== undefined && JSON.stringify(rules) !== JSON.stringify(stored)
  const leaving = useUnsaved(isChanged)
  const errors = save.error ? (problemOf(save.error).errors ?? []) : []
  const put = (next: readonly RuleRow[] | undefined) => {
    setEdited(next)
    if (save.error) save.reset()
  }
  const submit = () => {
    if (isChanged && !save.isPending) save.mutate(rules, { onSuccess: () => setEdited(undefined) })
  }
  return (
    <>
      {save.error && <ProblemNotice error={save.error} folded={errors.length > 0} />}
      {rows.length === 0 && <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">{empty}</p>}
      <ol className="grid gap-3">
        {rows.map((row, index) => (
          <RuleForm
            key={row.key}
            row={row}
            position={{ index, isLast: index === rows.length - 1 }}
            errors={errors.filter(({ path }) => path.startsWith(`rules.${index}.`) || path.startsWith(`${index}.`))}
            onChange={(rule) => put(rows.map((other) => (other.key === row.key ? { ...row, rule } : other)))}
            onMove={(by) => put(moved(rows, index, by))}
            onRemove={() => put(rows.filter((other) => other.key !== row.key))}
          />
        ))}
      </ol>
      {/* Left-aligned, so that toasts on the right do not cover the buttons. */}
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => put([...rows, newRow(rows)])}>
          <Plus aria-hidden /> Add rule
        </Button>
        <Button variant="primary" aria-disabled={!isChanged || save.isPending} onClick={submit}>
          {save.isPending ? 'Saving…' : 'Save rules'}
        </Button>
        {isChanged && <Button onClick={() => put(undefined)}>Discard</Button>}
      </div>
      <UnsavedDialog leaving={leaving}>
        <p>The rules that you changed have not been saved.</p>
      </UnsavedDialog>
    </>
  )
}

function newRow(rows: readonly RuleRow[]): RuleRow {
  const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
  return { key, rule: { pattern: '', when: {}, decision: 'ask', allowEdits: false, allowRemember: true } }
}

function moved(rows: readonly RuleRow[], from: number, by: -1 | 1): RuleRow[] {
  const next = [...rows]
  const [row] = next.splice(from, 1)
  if (row) next.splice(from + by, 0, row)
  return next
}
