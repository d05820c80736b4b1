import { Plus } from 'lucide-react'
import { Button } from '../../../../ui/form/button.tsx'
import { FieldError, FieldHint } from '../../../../ui/form/field.tsx'
import { JsonText } from '../../../schema-form/json-text.tsx'

interface OptionalJsonProps {
  label: string
  hint: string
  /** Initial value. */
  start: unknown
  value: unknown
  onChange: (value: unknown) => void
  error: string | undefined
}

/** Optional JSON value. */
export function OptionalJson({ label, hint, start, value, onChange, error }: OptionalJsonProps) {
  if (value === undefined)
    return (
      <div className="grid gap-1.5">
        <p>
          <Button size="small" onClick={() => onChange(start)}>
            <Plus aria-hidden /> Add {label.charAt(0).toLowerCase() + label.slice(1)}
          </Button>
        </p>
        {error && <FieldError>{error}</FieldError>}
      </div>
    )
  return (
    <div className="grid gap-1.5">
      <div className="flex items-center justify-between gap-2">
        <span className="text-sm font-medium">{label}</span>
        <Button variant="quiet" size="small" onClick={() => onChange(undefined)} aria-label={`Remove ${label}`}>
          Remove
        </Button>
      </div>
      <JsonText label={label} value={value} onChange={(next) => onChange(next ?? start)} lines={5} />
      {error && <FieldError>{error}</FieldError>}
      <FieldHint>{hint}</FieldHint>
    </div>
  )
}
