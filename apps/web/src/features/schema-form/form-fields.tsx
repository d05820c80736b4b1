/** Custom fields: any JSON, and recursive schemas. */
import { type FieldProps, RJSF_REF_CYCLE_KEY } from '@rjsf/utils'
import { type ComponentType, useState } from 'react'
import { describedBy, type FormContext } from './form-context.ts'
import { ExpandTemplate } from './form-templates.tsx'
import { JsonText } from './json-text.tsx'

/** Field for a schema without constraints. */
export function JsonField({
  fieldPathId,
  formData,
  name,
  schema,
  registry,
  rawErrors,
  onChange,
  ...props
}: FieldProps) {
  const { label, onText } = registry.formContext as FormContext
  const id = fieldPathId.$id
  return (
    <JsonText
      id={id}
      label={props.title ?? schema.title ?? (name || label)}
      value={formData}
      lines={3}
      readOnly={props.disabled || props.readonly}
      aria-describedby={describedBy(id, { errors: rawErrors, schema })}
      onChange={(value) => onChange(value, fieldPathId.path)}
      onText={(isReadable) => onText(id, isReadable)}
    />
  )
}

/** Recursive schema, expanded as deep as the value. */
export function CyclicField(props: FieldProps) {
  const [expanded, setExpanded] = useState(false)
  const { name, registry, schema, uiSchema, fieldPathId, formData } = props
  const SchemaField = registry.fields.SchemaField as ComponentType<FieldProps>
  if (expanded || formData !== undefined)
    return <SchemaField {...props} schema={{ ...schema, [RJSF_REF_CYCLE_KEY]: false }} />
  return (
    <ExpandTemplate
      registry={registry}
      schema={schema}
      uiSchema={uiSchema}
      name={name}
      fieldPathId={fieldPathId}
      onExpand={() => setExpanded(true)}
    />
  )
}
