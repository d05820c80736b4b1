import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toast } from 'sonner'
import { answer, client, problemOf } from '../../api.ts'
import { Confirm } from '../../ui/alert-dialog.tsx'
import { Button } from '../../ui/button.tsx'
import type { PolicyRule, RuleRow } from '../operator/queries.ts'
import { RuleForm } from '../operator/rule-form.tsx'
import { Section, Waiting } from '../operator/section.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { useUnsaved } from '../shell/use-unsaved.ts'
import { ownRulesQuery } from './queries.ts'

export function RulesTab() {
  const { data, error } = useQuery(ownRulesQuery())
  if (error) return <ProblemNotice error={error} />
  if (!data) return <Waiting label="Loading rules" />
  return <Rules stored={data} />
}

function useSaveRules() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (rules: PolicyRule[]) => answer(client.api.policy.own.$put({ json: { rules } })),
    onSuccess: ({ rules }) => {
      queryClient.setQueryData(ownRulesQuery().queryKey, rules)
      toast.success('Rules saved')
    },
  })
}

function Rules({ stored }: { stored: readonly PolicyRule[] }) {
  const [edited, setEdited] = useState<readonly RuleRow[]>()
  const rows = edited ?? stored.map((rule, key) => ({ key, rule }))
  const rules = rows.map(({ rule }) => rule)
  const isChanged = edited !== undefined && JSON.stringify(rules) !== JSON.stringify(stored)
  const save = useSaveRules()
  const leaving = useUnsaved(isChanged)
  const errors = save.error ? (problemOf(save.error).errors ?? []) : []
  const put = (next: readonly RuleRow[]) => {
    setEdited(next)
    if (save.error) save.reset()
  }
  const submit = () => {
    if (isChanged && !save.isPending) save.mutate(rules, { onSuccess: () => setEdited(undefined) })
  }
  return (
    <Section
      title="Your rules"
      note="What may be called without asking you, what is asked, and what never is. The first rule that fits holds; yours can only be stricter than the operator’s."
    >
      {save.error && <ProblemNotice error={save.error} folded={errors.length > 0} />}
      {rows.length === 0 && (
        <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">
          There are none: the operator’s rules hold. A rule names tools by a pattern, as in{' '}
          <code className="font-mono">github.delete_*</code>.
        </p>
      )}
      <ol className="grid gap-3">
        {rows.map((row, index) => (
          <RuleForm
            key={row.key}
            row={row}
            place={{ index, isLast: index === rows.length - 1 }}
            errors={errors.filter(({ path }) => path.startsWith(`rules.${index}.`) || path.startsWith(`${index}.`))}
            onChange={(rule) => put(rows.map((other) => (other.key === row.key ? { ...row, rule } : other)))}
            onMove={(by) => put(moved(rows, index, by))}
            onRemove={() => put(rows.filter((other) => other.key !== row.key))}
          />
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => put([...rows, newRow(rows)])}>
          <Plus aria-hidden /> Add rule
        </Button>
        <span className="ml-auto flex gap-2">
          {isChanged && <Button onClick={() => setEdited(undefined)}>Discard</Button>}
          <Button variant="primary" aria-disabled={!isChanged || save.isPending} onClick={submit}>
            {save.isPending ? 'Saving…' : 'Save rules'}
          </Button>
        </span>
      </div>
      {leaving.status === 'blocked' && (
        <Confirm
          title="Leave without saving?"
          cancel="Keep editing"
          confirm="Discard changes"
          onCancel={leaving.reset}
          onConfirm={leaving.proceed}
          onClosed={() => {}}
        >
          <p>The rules that you changed have not been saved.</p>
        </Confirm>
      )}
    </Section>
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
