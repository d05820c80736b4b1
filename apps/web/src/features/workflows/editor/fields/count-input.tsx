import { useState } from 'react'
import { Field } from '../../../../ui/form/field.tsx'
import { Input } from '../../../../ui/form/input.tsx'

interface CountInputProps {
  label: string
  value: number | undefined
  onChange: (value: number | undefined) => void
  error?: string | undefined
  hint?: string
  optional?: boolean
}

/** Optional number. Invalid text stays in the input with an error. */
export function CountInput({ label, value, onChange, error, hint, optional }: CountInputProps) {
  const [text, setText] = useState(value === undefined ? '' : String(value))
  const number = Number(text)
  const isWrong = text.trim() !== '' && !Number.isFinite(number)
  const displayed = isWrong || text === '' || number === value ? text : value === undefined ? '' : String(value)
  const change = (next: string) => {
    setText(next)
    const read = Number(next)
    if (next.trim() === '') onChange(undefined)
    else if (Number.isFinite(read)) onChange(read)
  }
  return (
    <Field label={label} error={isWrong ? 'Write a number.' : error} hint={hint} {...(optional ? { optional } : {})}>
      {(control) => (
        <Input {...control} inputMode="numeric" value={displayed} onChange={({ target }) => change(target.value)} />
      )}
    </Field>
  )
}
