/** Forms by TanStack Form with the app's fields. An API error shows at the field that its path names. */
import { type AnyFormApi, createFormHook, createFormHookContexts } from '@tanstack/react-form'
import { type ComponentProps, type ReactNode, useEffect } from 'react'
import { Field } from '../ui/form/field.tsx'
import { Input, Select, Textarea } from '../ui/form/input.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { problemOf } from './api.ts'

interface LabelProps {
  label: string
  hint?: ReactNode
  optional?: boolean
  fieldClassName?: string
}

const { fieldContext, formContext, useFieldContext } = createFormHookContexts()

/** First error of a field. A message that starts in lower case continues the label. */
export function fieldError(errors: readonly unknown[], label: string): string | undefined {
  const [error] = errors
  if (typeof error !== 'string') return undefined
  const text = /^[a-z]/.test(error) ? `${label} ${error}` : error
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Label, hint and error of the field around a control. */
function useText({ label, hint, optional, fieldClassName }: LabelProps) {
  const { state, handleChange } = useFieldContext<string>()
  return {
    frame: { label, hint, optional, className: fieldClassName, error: fieldError(state.meta.errors, label) },
    value: state.value,
    onChange: handleChange,
  }
}

function TextField({ label, hint, optional, fieldClassName, ...input }: LabelProps & ComponentProps<'input'>) {
  const { frame, value, onChange } = useText({ label, hint, optional, fieldClassName })
  return (
    <Field {...frame}>
      {(control) => <Input {...control} {...input} value={value} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  )
}

function TextareaField({ label, hint, optional, fieldClassName, ...input }: LabelProps & ComponentProps<'textarea'>) {
  const { frame, value, onChange } = useText({ label, hint, optional, fieldClassName })
  return (
    <Field {...frame}>
      {(control) => (
        <Textarea {...control} {...input} value={value} onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  )
}

function SelectField({ label, hint, optional, fieldClassName, ...input }: LabelProps & ComponentProps<'select'>) {
  const { frame, value, onChange } = useText({ label, hint, optional, fieldClassName })
  return (
    <Field {...frame}>
      {(control) => <Select {...control} {...input} value={value} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  )
}

type PasswordFieldProps = LabelProps & Pick<ComponentProps<typeof PasswordInput>, 'autoComplete'>

function PasswordField({ autoComplete, ...label }: PasswordFieldProps) {
  const { frame, value, onChange } = useText(label)
  return (
    <Field {...frame}>
      {(control) => <PasswordInput {...control} autoComplete={autoComplete} value={value} onChange={onChange} />}
    </Field>
  )
}

export const { useAppForm } = createFormHook({
  fieldComponents: { TextField, TextareaField, SelectField, PasswordField },
  formComponents: {},
  fieldContext,
  formContext,
})

/** Errors by field name. */
export type FormErrors = Readonly<Record<string, unknown>>

/** Submits once at a time. A thrown API error shows at its fields until they change. */
export async function submitForm(form: AnyFormApi): Promise<void> {
  if (form.state.isSubmitting) return
  // TanStack Form does not submit while a field has an error, and an API error has no validator that clears it.
  setErrors(form, {})
  try {
    await form.handleSubmit()
  } catch (error) {
    setErrors(form, apiErrors(form, error))
  }
}

/** Handler of a `<form>`. */
export const onFormSubmit = (form: AnyFormApi) => (event: { preventDefault: () => void }) => {
  event.preventDefault()
  void submitForm(form)
}

/** Replaces the errors of all fields. */
export function setErrors(form: AnyFormApi, errors: FormErrors): void {
  for (const name of Object.keys(form.state.fieldMeta))
    form.setFieldMeta(name, (meta) => ({ ...meta, errorMap: { onSubmit: errors[name] } }))
}

/** The innermost field of a path has its error: `trust.hosts` has that of `trust.hosts.0`. */
function apiErrors(form: AnyFormApi, error: unknown): FormErrors {
  const errors: Record<string, string> = {}
  const names = Object.keys(form.fieldInfo).sort((a, b) => b.length - a.length)
  for (const { path, message } of problemOf(error).errors ?? []) {
    const name = names.find((field) => path === field || path.startsWith(`${field}.`))
    if (name !== undefined) errors[name] ??= message
  }
  return errors
}

/** Sets several fields, and clears their errors. */
export function setFields(form: AnyFormApi, values: object): void {
  for (const [name, value] of Object.entries(values)) form.setFieldValue(name, value)
}

/** Fields that the user has not changed follow the stored values, which are another object when they change. */
export function useStoredValues(form: AnyFormApi, stored: Readonly<Record<string, unknown>>): void {
  useEffect(() => {
    for (const [name, value] of Object.entries(stored))
      if (!form.getFieldMeta(name)?.isDirty)
        form.setFieldValue(name, value, { dontUpdateMeta: true, dontValidate: true })
  }, [form, stored])
}
