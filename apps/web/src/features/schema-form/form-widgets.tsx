/** Form widgets built on the UI controls. */
import {
  enumOptionsDeselectValue,
  enumOptionsIsSelected,
  enumOptionsSelectValue,
  localToUTC,
  type RJSFSchema,
  utcToLocal,
  type WidgetProps,
} from '@rjsf/utils'
import { Input, Select, Textarea } from '../../ui/form/input.tsx'
import { describedBy } from './form-context.ts'

const common = ({ id, disabled, readonly, required, rawErrors, schema, value }: WidgetProps) => ({
  id,
  disabled: disabled || readonly,
  'aria-required': required || undefined,
  'aria-invalid': rawErrors && rawErrors.length > 0 ? (true as const) : undefined,
  'aria-describedby': describedBy(id, { errors: rawErrors, schema, value }),
})

/** Field names that usually hold multi-line text. */
const LONG = /content|text|body|message|prompt|code|script|html|markdown|sql|instruction|note|comment|summary/i
const SHORT_LENGTH = 200

const isLong = ({ name, schema, value }: WidgetProps): boolean =>
  (typeof value === 'string' && value.includes('\n')) ||
  (schema.maxLength === undefined ? LONG.test(name) : schema.maxLength > SHORT_LENGTH && LONG.test(name))

function placeholderOf(schema: RJSFSchema): string | undefined {
  const defaultValue = schema.default
  if (typeof defaultValue === 'string' || typeof defaultValue === 'number') return `${defaultValue} (default)`
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  return example === undefined ? undefined : `${example}`
}

/** Label of the empty option. */
function unset({ default: defaultValue }: RJSFSchema): string {
  if (defaultValue === undefined) return 'Not set'
  return `Not set (default: ${defaultValue === true ? 'Yes' : defaultValue === false ? 'No' : String(defaultValue)})`
}

export function TextWidget(props: WidgetProps) {
  const { value, onChange, schema } = props
  if (schema.type === 'number' || schema.type === 'integer') return <NumberInput {...props} />
  const text = value === undefined || value === null ? '' : String(value)
  const shared = { ...common(props), value: text, placeholder: placeholderOf(schema) }
  const change = (next: string) => onChange(next === '' ? undefined : next)
  return isLong(props) ? (
    <Textarea {...shared} onChange={({ target }) => change(target.value)} />
  ) : (
    <Input {...shared} onChange={({ target }) => change(target.value)} />
  )
}

function NumberInput(props: WidgetProps) {
  const { value, onChange, schema } = props
  return (
    <Input
      {...common(props)}
      type="number"
      inputMode={schema.type === 'integer' ? 'numeric' : 'decimal'}
      step={schema.multipleOf ?? (schema.type === 'integer' ? 1 : 'any')}
      min={schema.minimum}
      max={schema.maximum}
      placeholder={placeholderOf(schema)}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  )
}

function TypedInput({ type, ...props }: WidgetProps & { type: string }) {
  const { value, onChange, schema } = props
  return (
    <Input
      {...common(props as WidgetProps)}
      type={type}
      value={value ?? ''}
      placeholder={placeholderOf(schema)}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  )
}
const DateWidget = (props: WidgetProps) => <TypedInput {...props} type="date" />
const EmailWidget = (props: WidgetProps) => <TypedInput {...props} type="email" />
const URLWidget = (props: WidgetProps) => <TypedInput {...props} type="url" />
const PasswordWidget = (props: WidgetProps) => <TypedInput {...props} type="password" />

function DateTimeWidget(props: WidgetProps) {
  const { value, onChange } = props
  return (
    <Input
      {...common(props)}
      type="datetime-local"
      step={1}
      value={typeof value === 'string' ? utcToLocal(value) : ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : localToUTC(target.value))}
    />
  )
}

export function SelectWidget(props: WidgetProps) {
  const { options, value, onChange, required, multiple, schema } = props
  const { enumOptions = [] } = options
  if (multiple) return <CheckboxesWidget {...props} />
  const chosen = enumOptions.findIndex((option) => enumOptionsIsSelected(option.value, value))
  const isChoiceOfSchema = schema.type === 'number' && schema.default === 0 && props.name.endsWith('of_select')
  return (
    <Select
      {...common(props)}
      value={chosen < 0 ? '' : String(chosen)}
      onChange={({ target }) => onChange(target.value === '' ? undefined : enumOptions[Number(target.value)]?.value)}
    >
      {!isChoiceOfSchema && (chosen < 0 || !required) && (
        <option value="">{required ? 'Choose…' : unset(schema)}</option>
      )}
      {enumOptions.map((option, index) => (
        <option key={String(option.value)} value={String(index)}>
          {option.label}
        </option>
      ))}
    </Select>
  )
}

export function CheckboxesWidget(props: WidgetProps) {
  const { id, options, value, onChange, label } = props
  const { enumOptions = [] } = options
  const chosen = Array.isArray(value) ? value : []
  const { disabled, 'aria-describedby': described } = common(props)
  return (
    // biome-ignore lint/a11y/useSemanticElements: the enclosing field already has the label
    <div role="group" id={id} aria-label={label} aria-describedby={described} className="grid gap-1.5">
      {enumOptions.map((option, index) => (
        <label key={String(option.value)} className="flex min-h-6 items-center gap-2.5 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            disabled={disabled}
            checked={enumOptionsIsSelected(option.value, chosen)}
            onChange={({ target }) =>
              onChange(
                target.checked
                  ? enumOptionsSelectValue(index, chosen, enumOptions)
                  : enumOptionsDeselectValue(index, chosen, enumOptions),
              )
            }
          />
          {option.label}
        </label>
      ))}
    </div>
  )
}

/** A checkbox if required, otherwise a select with an empty option. */
export function BooleanWidget(props: WidgetProps) {
  const { id, value, onChange, label, required, schema } = props
  if (!required)
    return (
      <div className="grid gap-1.5">
        <label htmlFor={id} className="flex items-baseline gap-2 text-sm font-medium">
          {label} <span className="text-xs font-normal text-ink-faint">optional</span>
        </label>
        <Select
          {...common(props)}
          value={value === undefined ? '' : String(value)}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value === 'true')}
        >
          <option value="">{unset(schema)}</option>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </Select>
      </div>
    )
  return (
    <label className="flex min-h-6 items-center gap-2.5 text-sm font-medium">
      <input
        {...common(props)}
        type="checkbox"
        className="size-4 accent-accent"
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span className="min-w-0 wrap-anywhere">{label}</span>
    </label>
  )
}

export const WIDGETS = {
  TextWidget,
  TextareaWidget: TextWidget,
  UpDownWidget: TextWidget,
  SelectWidget,
  RadioWidget: SelectWidget,
  CheckboxWidget: BooleanWidget,
  CheckboxesWidget,
  DateWidget,
  DateTimeWidget,
  EmailWidget,
  URLWidget,
  PasswordWidget,
}
