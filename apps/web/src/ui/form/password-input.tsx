import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import type { ControlProps } from './field.tsx'
import { Input } from './input.tsx'

interface PasswordInputProps extends ControlProps {
  value: string
  onChange: (value: string) => void
  autoComplete: 'current-password' | 'new-password'
}

export function PasswordInput({ value, onChange, ...control }: PasswordInputProps) {
  const [isVisible, setVisible] = useState(false)
  return (
    <span className="relative block">
      <Input
        {...control}
        type={isVisible ? 'text' : 'password'}
        name="password"
        required
        className="pr-11"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <button
        type="button"
        aria-label={isVisible ? 'Hide the password' : 'Show the password'}
        aria-pressed={isVisible}
        onClick={() => setVisible(!isVisible)}
        className="absolute inset-y-0 right-0 flex w-10 items-center justify-center rounded-lg text-ink-muted hover:text-ink [&_svg]:size-4"
      >
        {isVisible ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
      </button>
    </span>
  )
}
