import { useStore } from '@tanstack/react-form'
import type { UseMutationResult } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { submitForm, useAppForm } from '../../../lib/form.tsx'
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
  const defaultValues = useMemo(() => ({ rows: rowsOf(stored) }), [stored])
  const form = useAppForm({
    defaultValues,
    listeners: { onChange: () => save.error && save.reset() },
    onSubmit: async ({ value: { rows } }) => {
      await save.mutateAsync(rows.map(({ rule }) => rule))
      form.reset({ rows })
    },
  })
  const rows = useStore(form.store, ({ values }) => values.rows)
  const isChanged = JSON.stringify(rows.map(({ rule }) => rule)) !== JSON.stringify(stored)
  const leaving = useUnsaved(isChanged)
  const errors = save.error ? (problemOf(save.error).errors ?? []) : []
  const discard = () => {
    form.reset(defaultValues)
    if (save.error) save.reset()
  }
  return (
    <>
      {save.error && <ProblemNotice error={save.error} folded={errors.length > 0} />}
      {rows.length === 0 && <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">{empty}</p>}
      <form.Field name="rows" mode="array">
        {(list) => (
          <ol className="grid gap-3">
            {rows.map((row, index) => (
              <form.Field key={row.key} name={`rows[${index}].rule`}>
                {({ handleChange }) => (
                  <RuleForm
                    row={row}
                    position={{ index, isLast: index === rows.length - 1 }}
                    errors={errors.filter(
                      ({ path }) => path.startsWith(`rules.${index}.`) || path.startsWith(`${index}.`),
                    )}
                    onChange={(rule) => handleChange(rule)}
                    onMove={(by) => list.moveValue(index, index + by)}
                    onRemove={() => list.removeValue(index)}
                  />
                )}
              </form.Field>
            ))}
          </ol>
        )}
      </form.Field>
      {/* Left-aligned, so that toasts on the right do not cover the buttons. */}
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => form.pushFieldValue('rows', newRow(rows))}>
          <Plus aria-hidden /> Add rule
        </Button>
        <Button
          variant="primary"
          aria-disabled={!isChanged || save.isPending}
          onClick={() => isChanged && submitForm(form)}
        >
          {save.isPending ? 'Saving…' : 'Save rules'}
        </Button>
        {isChanged && <Button onClick={discard}>Discard</Button>}
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

const rowsOf = (rules: readonly PolicyRule[]): RuleRow[] => rules.map((rule, key) => ({ key, rule }))
