/**
 * The RJSF form, loaded on first use. Imports avoid the package root, which also loads test tools that are not
 * installed.
 */
import Form, { type IChangeEvent } from '@rjsf/core/lib/components/Form.js'
import type { RJSFSchema } from '@rjsf/utils'
import { useEffect, useMemo, useRef } from 'react'
import { ArrayItemTemplate, ArrayTemplate } from './form-arrays.tsx'
import type { FormContext } from './form-context.ts'
import { CyclicField, JsonField } from './form-fields.tsx'
import { ChoiceTemplate, ExpandTemplate, FieldTemplate, ObjectTemplate, WrapIfAdditional } from './form-templates.tsx'
import { WIDGETS } from './form-widgets.tsx'
import { toErrorSchema } from './problem-paths.ts'
import { createValidator, type ValueProblem } from './validator.ts'
import { withoutUndefined } from './without-undefined.ts'

const TEMPLATES = {
  FieldTemplate,
  ObjectFieldTemplate: ObjectTemplate,
  ArrayFieldTemplate: ArrayTemplate,
  ArrayFieldItemTemplate: ArrayItemTemplate,
  MultiSchemaFieldTemplate: ChoiceTemplate,
  CyclicSchemaExpandTemplate: ExpandTemplate,
  WrapIfAdditionalTemplate: WrapIfAdditional,
}
const FIELDS = { FallbackField: JsonField, CyclicSchemaField: CyclicField }
const DEFAULTS = {
  arrayMinItems: { populate: 'never' },
  emptyObjectFields: 'populateRequiredDefaults',
  constAsDefaults: 'always',
  requiredBooleanDefault: 'populateFalse',
} as const

export interface RjsfFormProps extends FormContext {
  schema: RJSFSchema
  value: unknown
  problems: readonly ValueProblem[]
  readOnly: boolean
  onChange: (value: unknown) => void
}

export function RjsfForm({ schema, value, problems, readOnly, onChange, label, idPrefix, onText }: RjsfFormProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cache of a validator belongs to one schema
  const validator = useMemo(createValidator, [schema])
  const extraErrors = useMemo(() => toErrorSchema(problems, value), [problems, value])
  const formContext = useMemo(() => ({ label, idPrefix, onText }), [label, idPrefix, onText])
  // RJSF reports defaults while it renders; `onChange` must wait until the form is mounted.
  const early = useRef<{ value: unknown }>(null)
  const isThere = useRef(false)
  useEffect(() => {
    isThere.current = true
    if (early.current) onChange(early.current.value)
    early.current = null
  })
  const change = ({ formData }: IChangeEvent) => {
    const next = withoutUndefined(formData)
    if (isThere.current) onChange(next)
    else early.current = { value: next }
  }
  return (
    <Form
      tagName="div"
      idPrefix={idPrefix}
      schema={schema}
      formData={value}
      formContext={formContext}
      validator={validator}
      templates={TEMPLATES}
      widgets={WIDGETS}
      fields={FIELDS}
      extraErrors={extraErrors}
      experimental_defaultFormStateBehavior={DEFAULTS}
      readonly={readOnly}
      noValidate
      noHtml5Validate
      showErrorList={false}
      onChange={change}
    >
      {/* Replaces RJSF's own submit button. */}
      <span hidden />
    </Form>
  )
}
