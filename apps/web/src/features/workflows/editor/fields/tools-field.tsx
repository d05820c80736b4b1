import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../../ui/form/button.tsx'
import { FieldError, FieldHint } from '../../../../ui/form/field.tsx'
import type { Tools } from '../../use-tools.ts'
import { ToolPicker } from './tool-picker.tsx'

interface ToolsFieldProps {
  value: readonly string[]
  onChange: (refs: string[]) => void
  tools: Tools
  hint: string
  error: string | undefined
}

const OPENER = 'choose-tools'

/** Tools of an agent or program. Toolkit refs and globs are preserved. */
export function ToolsField({ value, onChange, tools, hint, error }: ToolsFieldProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="grid gap-1.5">
      <span className="text-sm font-medium">Tools</span>
      {value.length > 0 && (
        <ul aria-label="Chosen tools" className="flex flex-wrap gap-1.5">
          {value.map((ref) => (
            <li key={ref} className="flex items-center gap-1 rounded-md border bg-sunken pl-2 font-mono text-xs">
              {ref}
              <Button
                variant="quiet"
                size="icon"
                className="size-6"
                aria-label={`Remove ${ref}`}
                onClick={() => onChange(value.filter((item) => item !== ref))}
              >
                <X aria-hidden className="size-3!" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <p>
        <Button id={OPENER} size="small" onClick={() => setOpen(true)}>
          <Plus aria-hidden /> Choose tools
        </Button>
      </p>
      {error && <FieldError>{error}</FieldError>}
      <FieldHint>{hint}</FieldHint>
      {isOpen && (
        <ToolPicker
          several
          tools={tools}
          chosen={value}
          onClose={() => setOpen(false)}
          onClosed={() => document.getElementById(OPENER)?.focus()}
          onPick={(refs) => {
            onChange(refs)
            setOpen(false)
          }}
        />
      )}
    </div>
  )
}
