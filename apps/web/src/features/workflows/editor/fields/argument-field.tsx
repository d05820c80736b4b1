import { Braces, Pencil } from 'lucide-react'
import { useState } from 'react'
import { Segmented } from '../../../../ui/form/choice.tsx'
import { type ControlProps, Field } from '../../../../ui/form/field.tsx'
import { Input, Select } from '../../../../ui/form/input.tsx'
import { SchemaForm } from '../../../schema-form/schema-form.tsx'
import type { JsonObject } from '../../definition/definition.ts'
import type { Suggestion } from '../../definition/suggestions.ts'
import { asExpression, expressionIn } from './expression.ts'
import { ExpressionInput } from './expression-field.tsx'

export interface ArgumentFieldProps {
  name: string
  schema: JsonObject
  /** Root schema of its references. */
  root: JsonObject
  required: boolean
  value: unknown
  onChange: (value: unknown) => void
  suggestions: readonly Suggestion[]
  error: string | undefined
}

type Mode = 'value' | 'expression'
const MODES = [
  { value: 'value', label: 'Value', icon: <Pencil aria-hidden /> },
  { value: 'expression', label: 'Expression', icon: <Braces aria-hidden /> },
] as const

/** One argument as a value or as an expression. */
export function ArgumentField(props: ArgumentFieldProps) {
  const { name, schema, required, value, onChange, suggestions, error } = props
  const expression = expressionIn(value)
  const [mode, setMode] = useState<Mode>(expression === undefined ? 'value' : 'expression')
  const choose = (next: Mode) => {
    setMode(next)
    // A value cannot become an expression, nor the reverse, so switching clears it.
    if (next === 'value' && expression !== undefined) onChange(undefined)
    if (next === 'expression' && expression === undefined) onChange(undefined)
  }
  const description = typeof schema.description === 'string' ? schema.description : undefined
  return (
    <fieldset aria-label={name} className="grid min-w-0 gap-1.5">
      <div className="flex items-center justify-between gap-2">
        <span aria-hidden className="flex min-w-0 items-baseline gap-2 text-sm font-medium">
          <span className="truncate font-mono text-[0.8125rem]">{name}</span>
          {!required && <span className="text-xs font-normal text-ink-faint">optional</span>}
        </span>
        <Segmented label={`${name} as`} value={mode} options={MODES} onChange={choose} iconOnly />
      </div>
      {mode === 'expression' ? (
        <Bare label={`${name}, expression`} error={error} hint={description}>
          {(control) => (
            <Expression
              control={control}
              label={name}
              value={expression ?? ''}
              suggestions={suggestions}
              onChange={(text) => onChange(text === '' ? undefined : asExpression(text))}
            />
          )}
        </Bare>
      ) : (
        <Literal {...props} hint={description} />
      )}
    </fieldset>
  )
}

interface ExpressionProps {
  control: ControlProps
  label: string
  value: string
  suggestions: readonly Suggestion[]
  onChange: (text: string) => void
}

/** Keeps typed blanks in the input; the value is trimmed. */
function Expression({ control, label, value, suggestions, onChange }: ExpressionProps) {
  const [text, setText] = useState(value)
  const displayed = text.trim() === value ? text : value
  const change = (next: string) => {
    setText(next)
    onChange(next.trim())
  }
  return (
    <ExpressionInput
      bare
      control={control}
      label={label}
      placeholder="nodes.find.output"
      value={displayed}
      suggestions={suggestions}
      onChange={change}
    />
  )
}

/** A field whose label is only for screen readers, because the name is already visible. */
const Bare = ({ label, ...rest }: Parameters<typeof Field>[0]) => (
  <Field label={label} className="[&>label]:sr-only" {...rest} />
)

function Literal({
  name,
  schema,
  root,
  value,
  onChange,
  suggestions,
  error,
  hint,
}: ArgumentFieldProps & { hint: string | undefined }) {
  const choices = choicesOf(schema)
  if (choices)
    return (
      <Bare label={name} error={error} hint={hint}>
        {(control) => (
          <Select
            {...control}
            value={JSON.stringify(value) ?? ''}
            onChange={({ target }) => onChange(target.value === '' ? undefined : JSON.parse(target.value))}
          >
            <option value="">Not given</option>
            {choices.map((choice) => (
              <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
                {String(choice)}
              </option>
            ))}
          </Select>
        )}
      </Bare>
    )
  if (schema.type === 'number' || schema.type === 'integer')
    return (
      <Bare label={name} error={error} hint={hint}>
        {(control) => <NumberInput control={control} value={value} onChange={onChange} />}
      </Bare>
    )
  if (schema.type === 'string')
    return (
      <Bare label={name} error={error} hint={hint}>
        {(control) => (
          <ExpressionInput
            control={control}
            label={name}
            value={typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)}
            suggestions={suggestions}
            onChange={(text) => onChange(text === '' ? undefined : text)}
          />
        )}
      </Bare>
    )
  return (
    <div className="rounded-lg border border-line p-3">
      <SchemaForm
        label={name}
        schema={withReferences(schema, root)}
        value={value}
        onChange={onChange}
        problems={error ? [{ path: '(root)', message: error }] : []}
      />
    </div>
  )
}

function NumberInput({
  control,
  value,
  onChange,
}: {
  control: object
  value: unknown
  onChange: (value: unknown) => void
}) {
  const [text, setText] = useState(value === undefined ? '' : String(value))
  const change = (next: string) => {
    setText(next)
    const number = Number(next)
    onChange(next.trim() === '' ? undefined : Number.isFinite(number) ? number : next)
  }
  return <Input {...control} inputMode="decimal" value={text} onChange={({ target }) => change(target.value)} />
}

function choicesOf({ type, enum: listed }: JsonObject): unknown[] | undefined {
  if (Array.isArray(listed) && listed.length > 0) return listed
  return type === 'boolean' ? [true, false] : undefined
}

function withReferences(schema: JsonObject, { $defs, definitions }: JsonObject): JsonObject {
  return { ...schema, ...($defs ? { $defs } : {}), ...(definitions ? { definitions } : {}) }
}
