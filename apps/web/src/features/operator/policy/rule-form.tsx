import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input, Select } from '../../../ui/form/input.tsx'
import type { PolicyRule, RuleRow } from '../queries.ts'

interface RuleFormProps {
  row: RuleRow
  position: { index: number; isLast: boolean }
  errors: ReadonlyArray<{ path: string; message: string }>
  onChange: (rule: PolicyRule) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

export const RULE_DECISION_LABELS: Record<PolicyRule['decision'], string> = { allow: 'Allow', ask: 'Ask', deny: 'Deny' }

const HINTS = [
  ['readOnly', 'read-only'],
  ['destructive', 'destructive'],
  ['idempotent', 'idempotent'],
  ['openWorld', 'open world'],
] as const

const CALLERS = { direct: 'direct calls', code: 'programs', workflow: 'workflows' } as const

/** Conditions of a rule as text. */
export function formatConditions({ when = {} }: PolicyRule): string {
  const hints = HINTS.flatMap(([name, label]) =>
    when[name] === undefined ? [] : [`${when[name] ? '' : 'not '}${label}`],
  )
  const caller = when.caller ? [`by ${CALLERS[when.caller]}`] : []
  return [...hints, ...caller].join(', ')
}

/** One rule of a list, with move and remove buttons. */
export function RuleForm({ row: { rule }, position, errors, onChange, onMove, onRemove }: RuleFormProps) {
  const number = position.index + 1
  return (
    <li className="grid gap-4 rounded-xl border bg-surface p-4 shadow-flat">
      <div className="flex items-center gap-1">
        <h3 className="flex-1 text-sm font-semibold">Rule {number}</h3>
        <Button
          variant="quiet"
          size="icon"
          className="size-8"
          disabled={position.index === 0}
          aria-label={`Move rule ${number} up`}
          onClick={() => onMove(-1)}
        >
          <ArrowUp aria-hidden />
        </Button>
        <Button
          variant="quiet"
          size="icon"
          className="size-8"
          disabled={position.isLast}
          aria-label={`Move rule ${number} down`}
          onClick={() => onMove(1)}
        >
          <ArrowDown aria-hidden />
        </Button>
        <Button variant="quiet" size="icon" className="size-8" aria-label={`Remove rule ${number}`} onClick={onRemove}>
          <Trash2 aria-hidden />
        </Button>
      </div>
      <RuleFields rule={rule} errors={errors} onChange={onChange} />
    </li>
  )
}

interface RuleFieldsProps extends Pick<RuleFormProps, 'errors' | 'onChange'> {
  rule: PolicyRule
}

/** Fields of a rule: tools, conditions and decision. */
export function RuleFields({ rule, errors, onChange }: RuleFieldsProps) {
  const errorAt = (field: string) => errors.find(({ path }) => path.endsWith(`.${field}`))?.message
  const pattern = errorAt('pattern')
  return (
    <div className="@container grid gap-4">
      <div className="grid items-start gap-4 @md:grid-cols-[1.6fr_1fr]">
        <Field
          label="Tools"
          error={pattern && `Tools ${pattern}.`}
          hint="toolkit.tool, with globs: github.delete_*, *."
        >
          {(control) => (
            <Input
              {...control}
              value={rule.pattern}
              placeholder="github.delete_*"
              onChange={({ target }) => onChange({ ...rule, pattern: target.value })}
              className="font-mono text-[0.8125rem]"
            />
          )}
        </Field>
        <Field label="Decision">
          {(control) => (
            <Select
              {...control}
              value={rule.decision}
              onChange={({ target }) => onChange({ ...rule, decision: target.value as PolicyRule['decision'] })}
            >
              {Object.entries(RULE_DECISION_LABELS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Conditions rule={rule} onChange={onChange} />
      <Field optional label="Reason" hint="Shown to who is asked or refused." error={errorAt('reason')}>
        {(control) => (
          <Input
            {...control}
            value={rule.reason ?? ''}
            onChange={({ target }) => onChange({ ...rule, reason: target.value || undefined })}
          />
        )}
      </Field>
      {rule.decision === 'ask' && (
        <div className="flex flex-wrap gap-x-6 gap-y-2 text-sm">
          <Check
            label="The answer may be remembered"
            isOn={rule.allowRemember}
            onChange={(allowRemember) => onChange({ ...rule, allowRemember })}
          />
          <Check
            label="Who answers may change the arguments"
            isOn={rule.allowEdits}
            onChange={(allowEdits) => onChange({ ...rule, allowEdits })}
          />
        </div>
      )}
    </div>
  )
}

function Conditions({ rule, onChange }: Pick<RuleFormProps, 'onChange'> & { rule: PolicyRule }) {
  const { when } = rule
  const put = (name: string, value: unknown) => {
    const next = Object.fromEntries(
      Object.entries({ ...when, [name]: value }).filter(([, condition]) => condition !== undefined),
    )
    onChange({ ...rule, when: next as PolicyRule['when'] })
  }
  return (
    <details open={Object.keys(when).length > 0 || undefined}>
      <summary className="w-fit cursor-pointer rounded-sm text-sm font-medium text-ink-muted">Only where…</summary>
      <div className="mt-3 grid grid-cols-2 items-start gap-3 @xl:grid-cols-5">
        <Field label="Called by">
          {(control) => (
            <Select
              {...control}
              value={when.caller ?? ''}
              onChange={({ target }) => put('caller', target.value || undefined)}
            >
              <option value="">anyone</option>
              {Object.entries(CALLERS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {HINTS.map(([name, label]) => (
          <Field key={name} label={label}>
            {(control) => (
              <Select
                {...control}
                value={String(when[name] ?? '')}
                onChange={({ target }) => put(name, target.value === '' ? undefined : target.value === 'true')}
              >
                <option value="">either</option>
                <option value="true">yes</option>
                <option value="false">no</option>
              </Select>
            )}
          </Field>
        ))}
      </div>
    </details>
  )
}

function Check({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label className="flex min-h-6 items-center gap-2">
      <input
        type="checkbox"
        className="size-4 accent-accent"
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
      />
      {label}
    </label>
  )
}
