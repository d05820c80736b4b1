import { Eye, EyeOff, LockKeyhole } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../../ui/form/button.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { newSecret, type Secret } from './draft.ts'

interface SecretInputProps {
  id?: string
  /** Accessible name. */
  label: string
  value: Secret
  onChange: (value: Secret) => void
  placeholder?: string
  'aria-invalid'?: true | undefined
  'aria-describedby'?: string | undefined
}

/** Input of a secret, or a note that one is stored. A stored secret can only be replaced. */
export function SecretInput(props: SecretInputProps) {
  const { stored, replaced } = props.value
  const container = useRef<HTMLDivElement>(null)
  const before = useRef(replaced)
  // "Replace" and "Undo" remove the pressed button, so the focus moves to its replacement.
  useEffect(() => {
    if (before.current !== replaced) container.current?.querySelector<HTMLElement>('input, button')?.focus()
    before.current = replaced
  }, [replaced])
  return (
    <div ref={container} className="min-w-0">
      {stored !== '' && !replaced ? <StoredSecret {...props} /> : <TypedSecret {...props} />}
    </div>
  )
}

function StoredSecret({ label, value, onChange, ...aria }: SecretInputProps) {
  return (
    <div className="flex h-9 min-w-0 items-center gap-2 rounded-lg border border-dashed border-line-strong/70 bg-sunken pr-1 pl-3 text-sm text-ink-muted">
      <LockKeyhole aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0 flex-1 truncate">
        Stored <span aria-hidden>••••••••</span>
      </span>
      <Button
        variant="quiet"
        size="small"
        className="h-7 px-2 text-ink"
        aria-label={`Replace the stored value of ${label}`}
        aria-describedby={aria['aria-describedby']}
        onClick={() => onChange({ ...value, replaced: true, text: '' })}
      >
        Replace
      </Button>
    </div>
  )
}

function TypedSecret({ label, value, onChange, ...input }: SecretInputProps) {
  const [visible, setVisible] = useState(false)
  const replaces = value.stored !== ''
  return (
    <div className="flex min-w-0 items-center gap-1.5">
      <div className="relative min-w-0 flex-1">
        <Input
          {...input}
          aria-label={label}
          type={visible ? 'text' : 'password'}
          autoComplete="new-password"
          value={value.text}
          placeholder={replaces ? 'New value' : (input.placeholder ?? 'Value')}
          onChange={(event) => onChange({ ...value, text: event.target.value })}
          className="pr-10 font-mono"
        />
        <Button
          variant="quiet"
          size="icon"
          aria-label={`Show the value of ${label}`}
          aria-pressed={visible}
          onClick={() => setVisible(!visible)}
          className="absolute top-0.5 right-0.5 size-8"
        >
          {visible ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </Button>
      </div>
      {replaces && (
        <Button
          variant="quiet"
          size="small"
          className="px-2"
          aria-label={`Keep the stored value of ${label}`}
          onClick={() => onChange({ ...newSecret(), stored: value.stored })}
        >
          Undo
        </Button>
      )}
    </div>
  )
}
