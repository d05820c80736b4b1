/** Templates of fields, objects and choices, with the same labels, hints and errors as other forms. */
import {
  ADDITIONAL_PROPERTY_FLAG,
  type CyclicSchemaExpandProps,
  canExpand,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type WrapIfAdditionalTemplateProps,
} from '@rjsf/utils'
import { ChevronDown, Plus, X } from 'lucide-react'
import { createContext, type ReactNode, useContext } from 'react'
import { Button } from '../../ui/form/button.tsx'
import { FieldError, FieldHint } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
import { describedId, errorsId, type FormContext, formatId, InTuple } from './form-context.ts'
import { formatHint } from './format-hint.ts'
import { isRecord } from './keywords.ts'

/** Id of the enclosing choice field; its selected option has the same id and is the same field. */
const Chosen = createContext('')

export function FieldTemplate(props: FieldTemplateProps) {
  const {
    id,
    label,
    children,
    hidden,
    required,
    displayLabel,
    rawErrors,
    rawDescription,
    schema,
    registry,
    fieldPathId,
  } = props
  const isInsideChoice = useContext(Chosen) === id
  const isInTuple = useContext(InTuple)
  if (hidden) return <div hidden>{children}</div>
  if (!isInsideChoice && isAbsent(props)) return <AddField {...props} />
  const isAdditional = ADDITIONAL_PROPERTY_FLAG in schema
  const isChoice = (schema.anyOf ?? schema.oneOf) !== undefined && !registry.schemaUtils.isSelect(schema)
  const isBoolean = schema.type === 'boolean' && !isChoice
  const isGroup = schema.type === 'object' || (schema.type === 'array' && !displayLabel)
  const control = isChoice ? `${id}__${schema.oneOf ? 'oneof' : 'anyof'}_select` : id
  const context = registry.formContext as FormContext
  const isItem = typeof fieldPathId.path.at(-1) === 'number'
  const name = (isItem ? label.replace(/-(?=\d+$)/, ' ') : label) || (id === context.idPrefix ? context.label : '')
  const isNamed = displayLabel && name && !isBoolean
  const hint = isChoice || rawErrors?.length ? undefined : formatHint(schema, props.formData)
  return (
    <Additional {...props}>
      <div className="grid min-w-0 gap-1.5">
        {isNamed && (
          <Label
            id={control}
            text={name}
            required={required || isItem || id === context.idPrefix}
            hidden={isInsideChoice || isAdditional || (isItem && !isInTuple)}
          />
        )}
        {isChoice ? <Chosen value={id}>{children}</Chosen> : children}
        <Errors id={errorsId(id)} messages={isChoice ? undefined : rawErrors} />
        {hint && <FieldHint id={formatId(id)}>{hint}</FieldHint>}
        {rawDescription && !isGroup && <FieldHint id={describedId(id)}>{rawDescription}</FieldHint>}
        {!isInsideChoice && isRemovable(props) && <RemoveField {...props} />}
      </div>
    </Additional>
  )
}

const isObject = (schema: unknown): boolean =>
  isRecord(schema) && (schema.type === 'object' || isRecord(schema.properties))

/** An optional object can be absent, which differs from an empty object. */
function isRemovable({ required, schema, fieldPathId, registry }: FieldTemplateProps): boolean {
  const choices = schema.anyOf ?? schema.oneOf ?? []
  const isStructured =
    isObject(schema) || isTuple(schema) || choices.some((choice) => isObject(retrieved(choice, registry)))
  const isRoot = fieldPathId.$id === (registry.formContext as FormContext).idPrefix
  const isItem = typeof fieldPathId.path.at(-1) === 'number'
  return isStructured && !required && !isRoot && !isItem && !(ADDITIONAL_PROPERTY_FLAG in schema)
}

/** A tuple has no add button for items. */
const isTuple = ({ items }: RJSFSchema): boolean => Array.isArray(items)

const isAbsent = (props: FieldTemplateProps): boolean =>
  props.formData === undefined && (isTuple(props.schema) || isRemovable(props))

const retrieved = (choice: unknown, { schemaUtils }: FieldTemplateProps['registry']): unknown =>
  isRecord(choice) ? schemaUtils.retrieveSchema(choice) : choice

function AddField({ id, label, schema, registry, fieldPathId, onChange, ...props }: FieldTemplateProps) {
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  const add = () => {
    const first = isRecord(choice) ? choice : schema
    if (Array.isArray(schema.items))
      onChange(
        schema.items.map(() => undefined),
        fieldPathId.path,
      )
    else onChange(registry.schemaUtils.getDefaultFormState(first, {}) ?? {}, fieldPathId.path)
  }
  return (
    <div className="grid min-w-0 gap-1.5">
      <Button
        id={`${id}__add`}
        size="small"
        className="w-fit max-w-full"
        disabled={props.disabled || props.readonly}
        onClick={add}
        aria-describedby={props.rawDescription ? describedId(id) : undefined}
      >
        <Plus aria-hidden /> <span className="truncate">Add {label}</span>
      </Button>
      <Errors id={errorsId(id)} messages={props.rawErrors} />
      {props.rawDescription && <FieldHint id={describedId(id)}>{props.rawDescription}</FieldHint>}
    </div>
  )
}

function RemoveField({ label, fieldPathId, onChange, disabled, readonly }: FieldTemplateProps) {
  return (
    <Button
      size="small"
      variant="quiet"
      className="w-fit max-w-full"
      disabled={disabled || readonly}
      onClick={() => onChange(undefined, fieldPathId.path)}
    >
      <X aria-hidden /> <span className="truncate">Leave {label} away</span>
    </Button>
  )
}

interface LabelProps {
  id: string
  text: string
  required?: boolean | undefined
  /** Whether the label is only for screen readers, because it is already visible. */
  hidden: boolean
}

function Label({ id, text, required, hidden }: LabelProps) {
  return (
    <label htmlFor={id} className={hidden ? 'sr-only' : 'flex items-baseline gap-2 text-sm font-medium'}>
      <span className="min-w-0 wrap-anywhere">{text}</span>
      {!required && <span className="text-xs font-normal text-ink-faint">optional</span>}
    </label>
  )
}

export function Errors({ id, messages }: { id: string; messages: readonly string[] | undefined }) {
  if (!messages || messages.length === 0) return null
  return (
    <div id={id} className="grid gap-0.5">
      {messages.map((message) => (
        <FieldError key={message}>{message}</FieldError>
      ))}
    </div>
  )
}

interface GroupProps {
  id: string
  title: string | undefined
  description: ReactNode
  required?: boolean | undefined
  /** Whether the title is already visible above. */
  untitled?: boolean
  children: ReactNode
}

/** A titled group of fields. */
export function Group({ id, title, description, required, untitled = false, children }: GroupProps) {
  return (
    <fieldset id={id} className="grid min-w-0 gap-3 rounded-lg border border-line bg-surface p-3">
      {title && (
        <legend className={untitled ? 'sr-only' : '-ml-1 flex items-baseline gap-2 px-1 text-sm font-medium'}>
          <span className="min-w-0 wrap-anywhere">{title}</span>
          {!required && <span className="text-xs font-normal text-ink-faint">optional</span>}
        </legend>
      )}
      {description && <FieldHint id={describedId(id)}>{description}</FieldHint>}
      {children}
    </fieldset>
  )
}

export function ObjectTemplate(props: ObjectFieldTemplateProps) {
  const { title, description, properties, fieldPathId, formData, schema, uiSchema, required, registry } = props
  const { label, idPrefix } = registry.formContext as FormContext
  const isRoot = fieldPathId.$id === idPrefix
  const isInsideChoice = useContext(Chosen) === fieldPathId.$id
  const isChoiceAlone = (schema.oneOf ?? schema.anyOf) !== undefined && properties.length === 0
  if (isChoiceAlone) return null
  const name = isRoot ? label : title
  const inside = (
    <>
      {properties.map(({ content }) => content)}
      {canExpand(schema, uiSchema, formData) && (
        <Button
          size="small"
          id={`${fieldPathId.$id}__add`}
          className="w-fit"
          disabled={props.disabled || props.readonly}
          aria-label={`Add a field to ${name}`}
          onClick={props.onAddProperty}
        >
          <Plus aria-hidden /> Add field
        </Button>
      )}
    </>
  )
  if (isRoot)
    return (
      <fieldset className="grid min-w-0 gap-4">
        <legend className="sr-only">{label}</legend>
        {inside}
      </fieldset>
    )
  const isAdditional = ADDITIONAL_PROPERTY_FLAG in schema
  return (
    <Group
      id={fieldPathId.$id}
      title={isAdditional ? undefined : title}
      description={description}
      required={required}
      untitled={isInsideChoice}
    >
      {inside}
    </Group>
  )
}

/** An additional property that the user can rename or remove. */
function Additional({ children, ...props }: WrapIfAdditionalTemplateProps | FieldTemplateProps) {
  const { id, label, schema, disabled, readonly, onKeyRenameBlur, onRemoveProperty } = props
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) return <>{children}</>
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-2 rounded-lg border border-line bg-surface p-3">
      <Input
        key={label}
        aria-label={`Name of ${label}`}
        id={`${id}-key`}
        defaultValue={label}
        disabled={disabled || readonly}
        onBlur={onKeyRenameBlur}
        className="font-mono text-[0.8125rem]"
      />
      <Button
        variant="quiet"
        size="icon"
        aria-label={`Remove ${label}`}
        disabled={disabled || readonly}
        onClick={onRemoveProperty}
      >
        <X aria-hidden />
      </Button>
      <div className="col-span-2 min-w-0">{children}</div>
    </div>
  )
}

export function WrapIfAdditional({ children }: WrapIfAdditionalTemplateProps) {
  return <>{children}</>
}

export function ChoiceTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <div className="grid min-w-0 gap-2">
      {selector}
      {optionSchemaField}
    </div>
  )
}

/** A recursive schema expands on request. */
export function ExpandTemplate({ name, fieldPathId, onExpand }: CyclicSchemaExpandProps) {
  return (
    <Button
      size="small"
      variant="quiet"
      className="w-fit"
      id={`${fieldPathId.$id}__expand`}
      onClick={() => onExpand(fieldPathId.$id)}
    >
      <ChevronDown aria-hidden /> Add {name}
    </Button>
  )
}
