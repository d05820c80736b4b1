import { useState } from 'react'
import { Segmented } from '../../../../ui/form/choice.tsx'
import { FieldError, FieldHint } from '../../../../ui/form/field.tsx'
import { JsonText } from '../../../schema-form/json-text.tsx'
import type { JsonObject } from '../../definition/definition.ts'
import { atField, type PlacedProblem } from '../../definition/problems.ts'
import type { Suggestion } from '../../definition/suggestions.ts'
import { ArgumentField } from './argument-field.tsx'

interface ArgumentsFormProps {
  /** Id of the node; another node resets the form. */
  of: string
  schema: JsonObject | undefined
  value: JsonObject
  onChange: (value: JsonObject) => void
  suggestions: readonly Suggestion[]
  problems: readonly PlacedProblem[]
}

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const

/** Arguments by the tool's schema or as JSON; without a schema only as JSON. */
export function ArgumentsForm(props: ArgumentsFormProps) {
  const { of, schema, value, onChange, problems } = props
  const fields = fieldsOf(schema)
  const [chosen, setView] = useState<'form' | 'json'>('form')
  const view = fields.length === 0 ? 'json' : chosen
  const whole = problems.find(({ field }) => field === 'arguments')
  return (
    <fieldset className="grid gap-4">
      <div className="flex items-center justify-between gap-3">
        <legend className="contents text-sm font-semibold">Arguments</legend>
        {fields.length > 0 && <Segmented label="Arguments as" value={view} options={VIEWS} onChange={setView} />}
      </div>
      {whole && <FieldError>{whole.message}</FieldError>}
      {view === 'form' ? (
        <Fields key={of} {...props} fields={fields} />
      ) : (
        <div className="grid gap-1.5">
          <JsonText
            key={of}
            label="Arguments"
            value={value}
            onChange={(next) => onChange(isObject(next) ? next : {})}
            problems={problems.map(({ field, message }) => ({
              path: field.replace(/^arguments\.?/, '') || '(root)',
              message,
            }))}
          />
          <FieldHint>An expression is a text of the form “{'{{ input.city }}'}”.</FieldHint>
        </div>
      )}
    </fieldset>
  )
}

function Fields({
  fields,
  schema = {},
  value,
  onChange,
  suggestions,
  problems,
}: ArgumentsFormProps & { fields: Array<[string, JsonObject]> }) {
  const required = Array.isArray(schema.required) ? schema.required : []
  const extra = Object.keys(value).filter((name) => !fields.some(([fieldName]) => fieldName === name))
  const change = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined ? rest : { ...value, [name]: next })
  }
  return (
    <div className="grid gap-4">
      {[...fields, ...extra.map((name): [string, JsonObject] => [name, {}])].map(([name, field]) => (
        <ArgumentField
          key={name}
          name={name}
          schema={field}
          root={schema}
          required={required.includes(name)}
          value={value[name]}
          onChange={(next) => change(name, next)}
          suggestions={suggestions}
          error={atField(problems, `arguments.${name}`)}
        />
      ))}
    </div>
  )
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldsOf(schema: JsonObject | undefined): Array<[string, JsonObject]> {
  const { properties } = schema ?? {}
  if (!isObject(properties)) return []
  return Object.entries(properties).map(([name, field]) => [name, isObject(field) ? field : {}])
}
