import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'

interface PersonFieldProps {
  value: string
  error: string | undefined
  onChange: (value: string) => void
}

export function EmailField({
  value,
  error,
  onChange,
  hint,
  readOnly = false,
}: PersonFieldProps & { hint?: string; readOnly?: boolean }) {
  return (
    <Field label="Email" error={error} {...(hint === undefined ? {} : { hint })}>
      {(control) => (
        <Input
          {...control}
          type="email"
          autoComplete="username"
          required
          readOnly={readOnly}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

export function NameField({ value, error, onChange }: PersonFieldProps) {
  return (
    <Field label="Name" error={error}>
      {(control) => (
        <Input
          {...control}
          autoComplete="name"
          required
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
