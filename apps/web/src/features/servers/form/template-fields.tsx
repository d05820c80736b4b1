/** Fields of the operator's command templates: a select, and one input per template value. */
import { useStore } from '@tanstack/react-form'
import { Info } from 'lucide-react'
import type { ReactNode } from 'react'
import { fieldError, setFields } from '../../../lib/form.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { type ControlProps, Field, FieldError } from '../../../ui/form/field.tsx'
import { Input, Select } from '../../../ui/form/input.tsx'
import type { StdioTemplate, TemplateHole } from '../queries.ts'
import { newSecret, type SecretRow } from './draft.ts'
import { type FieldErrors, rowErrors } from './field-errors.ts'
import { SecretInput } from './secret-input.tsx'
import { SecretRows } from './secret-rows.tsx'
import { labelOf, rowsFor } from './template-values.ts'
import type { DraftForm } from './use-draft-form.ts'

interface TemplateFieldsProps {
  form: DraftForm
  templates: readonly StdioTemplate[]
}

const titleOf = ({ id, title }: StdioTemplate) => title ?? id

export function TemplateFields({ form, templates }: TemplateFieldsProps) {
  const template = useStore(form.store, ({ values }) => values.template)
  const chosen = templates.find(({ id }) => id === template)
  if (template !== '' && !chosen) return <UnknownTemplate form={form} />
  if (templates.length === 0)
    return (
      <InfoNote>
        The operator lets users run prepared commands only, and has prepared none yet. Ask for one, or use a URL.
      </InfoNote>
    )
  const choose = (id: string) => {
    const next = templates.find((offered) => offered.id === id)
    const { name } = form.state.values
    const isNamed = name.trim() !== '' && name !== (chosen && titleOf(chosen))
    setFields(form, {
      template: id,
      values: next ? rowsFor(next) : [],
      ...(next && !isNamed ? { name: titleOf(next) } : {}),
    })
  }
  return (
    <>
      <form.Field name="template">
        {({ state }) => (
          <Field
            label="Prepared command"
            error={fieldError(state.meta.errors, 'Template')}
            hint={chosen?.description ?? 'Here users run the commands that the operator prepared.'}
          >
            {(control) => (
              <Select {...control} value={state.value} onChange={(event) => choose(event.target.value)}>
                <option value="" disabled>
                  Choose one
                </option>
                {templates.map((offered) => (
                  <option key={offered.id} value={offered.id}>
                    {titleOf(offered)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
      </form.Field>
      {chosen && (
        <form.Field name="values">
          {({ state, handleChange }) => (
            <Holes
              template={chosen}
              values={state.value}
              errors={rowErrors(state.meta.errors)}
              onChange={(values) => handleChange(values)}
            />
          )}
        </form.Field>
      )}
    </>
  )
}

interface HolesProps {
  template: StdioTemplate
  values: readonly SecretRow[]
  errors: FieldErrors
  onChange: (values: readonly SecretRow[]) => void
}

function Holes({ template, values, errors, onChange }: HolesProps) {
  const rows = rowsFor(template, values)
  const put = (changed: SecretRow) => onChange(rows.map((row) => (row.key === changed.key ? changed : row)))
  return (
    <>
      {template.holes.map(({ name, hole }, index) => {
        const row = rows[index]
        if (!row) return null
        return (
          <Field
            key={`${template.id} ${name}`}
            label={labelOf(name, hole)}
            error={errors[`values#${row.key}`]}
            hint={hintOf(hole)}
          >
            {(control) => (
              <HoleInput control={control} label={labelOf(name, hole)} hole={hole} row={row} onChange={put} />
            )}
          </Field>
        )
      })}
      {errors.values && <FieldError>{errors.values}</FieldError>}
    </>
  )
}

interface HoleInputProps {
  control: ControlProps
  label: string
  hole: TemplateHole
  row: SecretRow
  onChange: (row: SecretRow) => void
}

/** All values are stored encrypted; values that are not secret are visible while typing. */
function HoleInput({ control, label, hole, row, onChange }: HoleInputProps) {
  const { stored, replaced, text } = row.value
  const isHidden = hole.type === 'string' && hole.secret
  if (isHidden || (stored !== '' && !replaced))
    return (
      <SecretInput {...control} label={label} value={row.value} onChange={(value) => onChange({ ...row, value })} />
    )
  const put = (typed: string) => onChange({ ...row, value: { ...row.value, text: typed } })
  return (
    <div className="flex min-w-0 items-center gap-1.5">
      <div className="min-w-0 flex-1">
        <OpenInput control={control} hole={hole} text={text} onChange={put} />
      </div>
      {stored !== '' && (
        <Button
          variant="quiet"
          size="small"
          className="px-2"
          aria-label={`Keep the stored value of ${label}`}
          onClick={() => onChange({ ...row, value: { ...newSecret(), stored } })}
        >
          Undo
        </Button>
      )}
    </div>
  )
}

interface OpenInputProps {
  control: ControlProps
  hole: TemplateHole
  text: string
  onChange: (text: string) => void
}

function OpenInput({ control, hole, text, onChange }: OpenInputProps) {
  if (hole.type === 'enum')
    return (
      <Select {...control} value={text} onChange={(event) => onChange(event.target.value)}>
        <option value="" disabled>
          Choose one
        </option>
        {hole.values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </Select>
    )
  return (
    <Input
      {...control}
      value={text}
      inputMode={hole.type === 'integer' ? 'numeric' : hole.type === 'url' ? 'url' : undefined}
      placeholder={hole.type === 'path' ? hole.roots[0] : hole.type === 'url' ? 'https://' : undefined}
      autoCapitalize="off"
      className={hole.type === 'path' || hole.type === 'url' ? 'font-mono' : undefined}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

function hintOf(hole: TemplateHole): string | undefined {
  const sentences = [hole.description, formatKind(hole)].filter(Boolean)
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

function formatKind(hole: TemplateHole): string | undefined {
  if (hole.type === 'path') return `A path in ${hole.roots.join(' or ')}.`
  if (hole.type === 'string' && hole.secret) return 'Stored encrypted and never shown again.'
  if (hole.type !== 'integer') return undefined
  const { min, max } = hole
  if (min !== undefined && max !== undefined) return `A whole number from ${min} to ${max}.`
  return min === undefined ? (max === undefined ? 'A whole number.' : `At most ${max}.`) : `${min} or more.`
}

/** A template that is no longer offered: its values can be edited by name. */
function UnknownTemplate({ form }: { form: DraftForm }) {
  return (
    <>
      <form.Field name="template">
        {({ state }) => (
          <>
            <InfoNote>
              It runs the operator’s template <code className="font-mono text-[0.9em] text-ink">{state.value}</code>,
              which is not offered any more.
            </InfoNote>
            {state.meta.errors.length > 0 && <FieldError>{fieldError(state.meta.errors, 'Template')}</FieldError>}
          </>
        )}
      </form.Field>
      <form.Field name="values">
        {({ state, handleChange }) => (
          <SecretRows
            field="values"
            label="Values"
            noun="value"
            example="token"
            hint="Values for the template. Stored encrypted."
            rows={state.value}
            errors={rowErrors(state.meta.errors)}
            onChange={handleChange}
          />
        )}
      </form.Field>
    </>
  )
}

export const InfoNote = ({ children }: { children: ReactNode }) => (
  <p className="flex gap-2.5 rounded-xl border bg-sunken/60 p-3.5 text-sm text-ink-muted">
    <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
    <span className="min-w-0 wrap-anywhere">{children}</span>
  </p>
)
