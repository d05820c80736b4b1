/** How fields, objects and choices between schemas look: the same labels, hints and errors as in every other form. */
import {
  ADDITIONAL_PROPERTY_FLAG,
  type CyclicSchemaExpandProps,
  canExpand,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type WrapIfAdditionalTemplateProps,
} from '@rjsf/utils'
import { ChevronDown, Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { FieldError, FieldHint } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { describedId, errorsId, type FormContext } from './form-context.ts'

export function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, hidden, required, displayLabel, rawErrors, rawDescription, schema, registry } = props
  if (hidden) return <div hidden>{children}</div>
  const isAdditional = ADDITIONAL_PROPERTY_FLAG in schema
  const isChoice = (schema.anyOf ?? schema.oneOf) !== undefined && !registry.schemaUtils.isSelect(schema)
  const isBoolean = schema.type === 'boolean' && !isChoice
  const isGroup = schema.type === 'object' || (schema.type === 'array' && !displayLabel)
  const control = isChoice ? `${id}__${schema.oneOf ? 'oneof' : 'anyof'}_select` : id
  const isNamed = displayLabel && label && !isAdditional && !isBoolean
  return (
    <Additional {...props}>
      <div className="grid min-w-0 gap-1.5">
        {isNamed && <Label id={control} text={label} required={required} />}
        {children}
        <Errors id={errorsId(id)} messages={isChoice ? undefined : rawErrors} />
        {rawDescription && !isGroup && <FieldHint id={describedId(id)}>{rawDescription}</FieldHint>}
      </div>
    </Additional>
  )
}

export function Label({ id, text, required }: { id: string; text: string; required?: boolean | undefined }) {
  return (
    <label htmlFor={id} id={`${id}__label`} className="flex items-baseline gap-2 text-sm font-medium">
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
  children: ReactNode
}

/** Fields that belong together, under a name. */
export function Group({ id, title, description, required, children }: GroupProps) {
  return (
    <fieldset id={id} className="grid min-w-0 gap-3 rounded-lg border border-line bg-surface p-3">
      {title && (
        <legend className="-ml-1 flex items-baseline gap-2 px-1 text-sm font-medium">
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
    <Group id={fieldPathId.$id} title={isAdditional ? undefined : title} description={description} required={required}>
      {inside}
    </Group>
  )
}

/** A field that somebody added: its name can be changed, and it can go. */
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
    <div className="grid min-w-0 gap-3">
      {selector}
      {optionSchemaField && <div className="grid min-w-0 border-l-2 border-line pl-3">{optionSchemaField}</div>}
    </div>
  )
}

/** Where a schema leads back to itself it goes on when somebody wants it to. */
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
