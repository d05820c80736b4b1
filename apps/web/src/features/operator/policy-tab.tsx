import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { problemOf } from '../../api.ts'
import { Confirm } from '../../ui/alert-dialog.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { useUnsaved } from '../shell/use-unsaved.ts'
import { type PolicyRule, policyQuery, type RuleRow } from './queries.ts'
import { DECISION_WORDS, RuleForm, whenWords } from './rule-form.tsx'
import { Section, Waiting } from './section.tsx'
import { useSetPolicy } from './use-app.ts'

export function PolicyTab() {
  const { data, error } = useQuery(policyQuery())
  if (error) return <ProblemNotice error={error} />
  if (!data) return <Waiting label="Loading rules" />
  return (
    <>
      {data.given.length > 0 && <Given rules={data.given} />}
      <Rules stored={data.rules} />
    </>
  )
}

const rowsOf = (rules: readonly PolicyRule[]): RuleRow[] => rules.map((rule, key) => ({ key, rule }))

function Rules({ stored }: { stored: readonly PolicyRule[] }) {
  const [edited, setEdited] = useState<readonly RuleRow[]>()
  const rows = edited ?? rowsOf(stored)
  const isChanged = edited !== undefined && JSON.stringify(rows.map(({ rule }) => rule)) !== JSON.stringify(stored)
  const save = useSetPolicy()
  const leaving = useUnsaved(isChanged)
  const errors = save.error ? (problemOf(save.error).errors ?? []) : []
  const put = (next: readonly RuleRow[]) => {
    setEdited(next)
    if (save.error) save.reset()
  }
  return (
    <Section
      title="Rules for everyone"
      note="The first rule that fits a call holds. What no rule fits is asked. Users and threads may only be stricter."
    >
      {save.error && <ProblemNotice error={save.error} folded={errors.length > 0} />}
      {rows.length === 0 && (
        <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">
          There are none: read-only tools of trusted servers are allowed, and the rest is asked.
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
        <span className="flex flex-row-reverse gap-2">
          {isChanged && <Button onClick={() => setEdited(undefined)}>Discard</Button>}
          <Button
            variant="primary"
            aria-disabled={!isChanged || save.isPending}
            onClick={() =>
              isChanged &&
              !save.isPending &&
              save.mutate(
                rows.map(({ rule }) => rule),
                { onSuccess: () => setEdited(undefined) },
              )
            }
          >
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

function Given({ rules }: { rules: readonly PolicyRule[] }) {
  return (
    <Section title="Rules of the app’s code" note="They are tried first, and changed in the code.">
      <ol className="divide-y overflow-hidden rounded-xl border bg-surface text-sm shadow-flat">
        {rules.map((rule) => (
          <li key={JSON.stringify(rule)} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
            <code className="font-mono text-[0.8125rem] wrap-anywhere">{rule.pattern}</code>
            <Badge>{DECISION_WORDS[rule.decision]}</Badge>
            <span className="text-ink-muted">{whenWords(rule)}</span>
          </li>
        ))}
      </ol>
    </Section>
  )
}
