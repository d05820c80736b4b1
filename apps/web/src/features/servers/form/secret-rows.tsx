import { Plus, X } from 'lucide-react'
import { type RefObject, useEffect, useId, useRef } from 'react'
import { Button } from '../../../ui/form/button.tsx'
import { FieldError, FieldHint } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { newSecret, type SecretRow } from './draft.ts'
import type { FieldErrors } from './field-errors.ts'
import { SecretInput } from './secret-input.tsx'

interface SecretRowsProps {
  /** Draft key of the rows in errors. */
  field: 'env' | 'headers' | 'authHeaders' | 'values'
  label: string
  hint: string
  /** Singular noun of a row. */
  noun: string
  example: string
  rows: readonly SecretRow[]
  errors: FieldErrors
  onChange: (rows: readonly SecretRow[]) => void
}

/** Rows of names with secret values: environment variables or headers. */
export function SecretRows({ field, label, hint, noun, example, rows, errors, onChange }: SecretRowsProps) {
  const id = useId()
  const error = errors[field]
  const container = useRef<HTMLFieldSetElement>(null)
  useFocusOnCount(container, rows.length)
  const add = () => onChange([...rows, { key: nextKey(rows), name: '', value: newSecret() }])
  return (
    <fieldset ref={container} className="grid min-w-0 gap-2" aria-describedby={`${id}-hint`}>
      <legend className="mb-2 flex items-baseline gap-2 text-sm font-medium">
        {label} <span className="text-xs font-normal text-ink-faint">optional</span>
      </legend>
      {rows.map((row, index) => (
        <Row
          key={row.key}
          row={row}
          noun={`${noun} ${index + 1}`}
          example={example}
          error={errors[`${field}#${row.key}`]}
          groupError={error ? `${id}-error` : undefined}
          onChange={(changed) => onChange(rows.map((other) => (other.key === row.key ? changed : other)))}
          onRemove={() => onChange(rows.filter((other) => other.key !== row.key))}
        />
      ))}
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Button size="small" data-add onClick={add}>
          <Plus aria-hidden /> Add {noun}
        </Button>
        <FieldHint id={`${id}-hint`}>{hint}</FieldHint>
      </div>
    </fieldset>
  )
}

// A new row gets the focus; after a removal it moves to the add button.
function useFocusOnCount(container: RefObject<HTMLElement | null>, count: number) {
  const before = useRef(count)
  useEffect(() => {
    const names = [...(container.current?.querySelectorAll<HTMLElement>('[data-row-name]') ?? [])]
    if (count > before.current) names.at(-1)?.focus()
    if (count < before.current) container.current?.querySelector<HTMLElement>('[data-add]')?.focus()
    before.current = count
  }, [container, count])
}

interface RowProps {
  row: SecretRow
  noun: string
  example: string
  error: string | undefined
  groupError: string | undefined
  onChange: (row: SecretRow) => void
  onRemove: () => void
}

function Row({ row, noun, example, error, groupError, onChange, onRemove }: RowProps) {
  const id = useId()
  const called = row.name.trim() || noun
  const isNew = row.value.stored === ''
  return (
    <div className="grid gap-1.5">
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-1.5 min-[30rem]:grid-cols-[minmax(0,5fr)_minmax(0,7fr)_auto]">
        <Input
          data-row-name
          aria-label={`Name of ${noun}`}
          aria-invalid={error || groupError ? true : undefined}
          aria-describedby={[error && `${id}-error`, groupError].filter(Boolean).join(' ') || undefined}
          // The placeholder of a stored value belongs to its name, so the name is read-only.
          readOnly={!isNew}
          value={row.name}
          placeholder={example}
          autoCapitalize="off"
          onChange={(event) => onChange({ ...row, name: event.target.value })}
          className="font-mono read-only:border-line read-only:bg-sunken read-only:text-ink-muted"
        />
        <div className="col-span-2 row-start-2 min-w-0 min-[30rem]:col-span-1 min-[30rem]:row-start-auto">
          <SecretInput label={called} value={row.value} onChange={(value) => onChange({ ...row, value })} />
        </div>
        <Button variant="quiet" size="icon" aria-label={`Remove ${called}`} onClick={onRemove}>
          <X aria-hidden />
        </Button>
      </div>
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
    </div>
  )
}

const nextKey = (rows: readonly SecretRow[]) => Math.max(-1, ...rows.map(({ key }) => key)) + 1
