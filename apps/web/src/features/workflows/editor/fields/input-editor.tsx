import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../../ui/form/button.tsx'
import { Segmented } from '../../../../ui/form/choice.tsx'
import { Field, FieldError, FieldHint } from '../../../../ui/form/field.tsx'
import { Input, Select } from '../../../../ui/form/input.tsx'
import { JsonText } from '../../../schema-form/json-text.tsx'
import type { JsonObject } from '../../definition/definition.ts'
import { INPUT_TYPES, type InputRow, type InputType, inputRows, newRow, schemaOf } from './input-fields.ts'

interface InputEditorProps {
  value: JsonObject
  onChange: (schema: JsonObject) => void
  error: string | undefined
}

const VIEWS = [
  { value: 'rows', label: 'Fields' },
  { value: 'json', label: 'JSON Schema' },
] as const

const TYPE_LABELS: Record<InputType, string> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  array: 'List',
  object: 'Object',
}

/** Workflow inputs as rows, or as JSON Schema if rows cannot express it. */
export function InputEditor({ value, onChange, error }: InputEditorProps) {
  const [view, setView] = useState<'rows' | 'json'>('rows')
  const rows = inputRows(value)
  const activeView = rows ? view : 'json'
  return (
    <fieldset className="grid min-w-0 gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <legend className="contents text-sm font-semibold">Inputs</legend>
        {rows && <Segmented label="Inputs as" value={activeView} options={VIEWS} onChange={setView} />}
      </div>
      {error && <FieldError>{error}</FieldError>}
      {activeView === 'rows' && rows ? (
        <Rows rows={rows} onChange={(next) => onChange(schemaOf(next, value))} />
      ) : (
        <>
          <JsonText
            label="Inputs as JSON Schema"
            value={value}
            onChange={(next) => onChange((next ?? { type: 'object' }) as JsonObject)}
            lines={8}
          />
          {!rows && <FieldHint>This schema says more than the fields can show, so it is edited as JSON.</FieldHint>}
        </>
      )}
    </fieldset>
  )
}

function Rows({ rows, onChange }: { rows: readonly InputRow[]; onChange: (rows: InputRow[]) => void }) {
  const put = (row: InputRow) => onChange(rows.map((other) => (other.key === row.key ? row : other)))
  return (
    <div className="grid gap-3">
      {rows.length === 0 && (
        <p className="text-sm text-ink-muted">None. What a run is given can be read as input.name.</p>
      )}
      {rows.map((row) => (
        <Row
          key={row.key}
          row={row}
          isTaken={(name) => rows.some((other) => other.key !== row.key && other.name === name)}
          onChange={put}
          onRemove={() => onChange(rows.filter((other) => other.key !== row.key))}
        />
      ))}
      <p>
        <Button size="small" onClick={() => onChange([...rows, newRow(rows)])}>
          <Plus aria-hidden /> Add input
        </Button>
      </p>
    </div>
  )
}

interface RowProps {
  row: InputRow
  isTaken: (name: string) => boolean
  onChange: (row: InputRow) => void
  onRemove: () => void
}

function Row({ row, isTaken, onChange, onRemove }: RowProps) {
  const [name, setName] = useState(row.name)
  const wrong = isTaken(name)
    ? 'There is one of this name.'
    : /^[A-Za-z_]\w*$/.test(name)
      ? undefined
      : 'Letters, digits and “_”.'
  const rename = (next: string) => {
    setName(next)
    if (!isTaken(next) && /^[A-Za-z_]\w*$/.test(next)) onChange({ ...row, name: next })
  }
  return (
    <fieldset
      aria-label={`Input ${row.name}`}
      className="grid min-w-0 grid-cols-2 items-start gap-3 rounded-lg border p-3 sm:grid-cols-[1fr_9rem_1.4fr_auto_auto]"
    >
      <Field label="Name" error={wrong}>
        {(control) => <Input {...control} value={name} onChange={({ target }) => rename(target.value)} />}
      </Field>
      <Field label="Type">
        {(control) => (
          <Select
            {...control}
            value={row.type}
            onChange={({ target }) =>
              onChange({ ...row, type: target.value as InputType, rest: withoutDefault(row.rest) })
            }
          >
            {INPUT_TYPES.map((type) => (
              <option key={type} value={type}>
                {TYPE_LABELS[type]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field optional label="Description" className="col-span-2 sm:col-span-1">
        {(control) => (
          <Input
            {...control}
            value={row.description}
            onChange={({ target }) => onChange({ ...row, description: target.value })}
          />
        )}
      </Field>
      <label className="flex items-center gap-2 text-sm sm:mt-8">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={row.required}
          onChange={({ target }) => onChange({ ...row, required: target.checked })}
        />
        Required
      </label>
      <Button
        variant="quiet"
        size="icon"
        aria-label={`Remove input ${row.name}`}
        onClick={onRemove}
        className="justify-self-end sm:mt-6.5"
      >
        <Trash2 aria-hidden />
      </Button>
    </fieldset>
  )
}

function withoutDefault({ default: _, ...rest }: JsonObject): JsonObject {
  return rest
}
