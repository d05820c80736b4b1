import { Braces } from 'lucide-react'
import { type RefObject, useRef } from 'react'
import { Button } from '../../../../ui/form/button.tsx'
import { type ControlProps, Field } from '../../../../ui/form/field.tsx'
import { Textarea } from '../../../../ui/form/input.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../../../ui/overlay/menu.tsx'
import type { Suggestion } from '../../definition/suggestions.ts'
import { asExpression, inserted } from './expression.ts'

interface ExpressionFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  suggestions: readonly Suggestion[]
  error?: string | undefined
  hint?: string
  optional?: boolean
  placeholder?: string
  /** Whether the whole value is an expression without braces; otherwise text with expressions. */
  bare?: boolean
}

/** Text field with a menu that inserts expressions at the cursor. */
export function ExpressionField({ label, error, hint, optional, ...props }: ExpressionFieldProps) {
  return (
    <Field label={label} error={error} hint={hint} {...(optional ? { optional } : {})}>
      {(control) => <ExpressionInput control={control} label={label} {...props} />}
    </Field>
  )
}

interface ExpressionInputProps extends Omit<ExpressionFieldProps, 'error' | 'hint' | 'optional'> {
  control?: ControlProps
}

export function ExpressionInput({
  control,
  label,
  value,
  onChange,
  suggestions,
  placeholder,
  bare = false,
}: ExpressionInputProps) {
  const element = useRef<HTMLTextAreaElement>(null)
  return (
    <div className="relative">
      <Textarea
        {...control}
        {...(control ? {} : { 'aria-label': label })}
        ref={element}
        value={value}
        placeholder={placeholder}
        rows={1}
        onChange={(event) => onChange(event.target.value)}
        className={bare ? 'min-h-9 py-1.5 pr-11 font-mono text-[0.8125rem]' : 'min-h-9 py-1.5 pr-11'}
      />
      <InsertMenu
        label={label}
        suggestions={suggestions}
        onInsert={(expression) =>
          insert(element, { value, onChange, text: bare ? expression : asExpression(expression) })
        }
      />
    </div>
  )
}

function insert(
  element: RefObject<HTMLTextAreaElement | null>,
  { value, onChange, text }: { value: string; onChange: (value: string) => void; text: string },
): void {
  const from = element.current?.selectionStart ?? value.length
  const to = element.current?.selectionEnd ?? value.length
  onChange(inserted(value, text, { from, to }))
  // After rendering, the cursor moves behind the inserted text.
  requestAnimationFrame(() => {
    element.current?.focus()
    element.current?.setSelectionRange(from + text.length, from + text.length)
  })
}

interface InsertMenuProps {
  label: string
  suggestions: readonly Suggestion[]
  onInsert: (expression: string) => void
}

function InsertMenu({ label, suggestions, onInsert }: InsertMenuProps) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          variant="quiet"
          size="icon"
          aria-label={`Insert into ${label}`}
          title="Insert an input or an earlier output"
          className="absolute top-1 right-1 size-7"
        >
          <Braces aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent
        className="max-h-80 w-80 max-w-[calc(100vw-2rem)] overflow-y-auto"
        onCloseAutoFocus={(event) => event.preventDefault()}
      >
        {suggestions.map(({ expression, about }) => (
          <MenuItem key={expression} onSelect={() => onInsert(expression)} className="h-auto py-1.5">
            <span className="grid min-w-0">
              <span className="font-mono text-[0.8125rem] wrap-anywhere">{expression}</span>
              {about !== '' && <span className="truncate text-xs text-ink-muted">{about}</span>}
            </span>
          </MenuItem>
        ))}
      </MenuContent>
    </Menu>
  )
}
