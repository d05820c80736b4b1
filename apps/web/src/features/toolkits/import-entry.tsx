import { CircleCheck, CircleX, type LucideIcon, RefreshCw, TextCursorInput } from 'lucide-react'
import { useId } from 'react'
import { cn } from '../../ui/cn.ts'
import { Field } from '../../ui/field.tsx'
import { Input, Select } from '../../ui/input.tsx'
import type { ImportedEntry } from './queries.ts'
import { isReady, type Paste } from './use-paste.ts'

type Status = ImportedEntry['status']

const LOOKS: Record<Status, { icon: LucideIcon; className: string; plan: string; done: string }> = {
  added: { icon: CircleCheck, className: 'text-good', plan: 'Will be added', done: 'Added' },
  updated: { icon: RefreshCw, className: 'text-busy', plan: 'Updates the one that you have', done: 'Updated' },
  'needs-input': {
    icon: TextCursorInput,
    className: 'text-act',
    plan: 'Needs a value',
    done: 'Not taken: it needs a value',
  },
  rejected: { icon: CircleX, className: 'text-bad', plan: 'Cannot be taken', done: 'Not taken' },
}

/** What becomes of one entry of a config, and what it still needs. */
export function ImportEntry({ entry, paste, done }: { entry: ImportedEntry; paste: Paste; done: boolean }) {
  const id = useId()
  const { icon: Icon, className, plan, done: was } = LOOKS[entry.status]
  const notes = [entry.status === 'rejected' ? entry.reason : undefined, ...entry.warnings].filter((note) => note)
  return (
    <li className="grid gap-3 p-3.5">
      <div className="flex items-start gap-3">
        {isReady(entry) && !done ? (
          <input
            id={id}
            type="checkbox"
            checked={!paste.left.has(entry.name)}
            onChange={(event) => paste.toggle(entry.name, event.target.checked)}
            className="mt-0.5 size-5 shrink-0 accent-accent"
          />
        ) : (
          <Icon aria-hidden className={cn('mt-0.5 size-5 shrink-0', className)} strokeWidth={1.75} />
        )}
        <div className="grid min-w-0 gap-0.5">
          <label htmlFor={id} className="text-sm font-medium wrap-anywhere">
            {entry.name}
          </label>
          <span className={cn('flex items-center gap-1.5 text-[0.8125rem]', className)}>
            {isReady(entry) && !done && <Icon aria-hidden className="size-3.5" />}
            {done ? was : plan}
          </span>
          {notes.map((note) => (
            <span key={note} className="text-[0.8125rem] wrap-anywhere text-ink-muted">
              {note}
            </span>
          ))}
        </div>
      </div>
      {!done && entry.status !== 'rejected' && <Inputs entry={entry} paste={paste} />}
    </li>
  )
}

function Inputs({ entry, paste }: { entry: ImportedEntry; paste: Paste }) {
  if (entry.inputs.length === 0) return null
  return (
    <div className="grid gap-3 pl-8">
      {entry.inputs.map((input) => {
        const value = paste.values[input.name] ?? ''
        const props = {
          value,
          onChange: (event: { target: { value: string } }) => paste.setValue(input.name, event.target.value),
        }
        return (
          <Field
            key={input.name}
            label={input.name}
            optional={!entry.missing.includes(input.name) && input.default !== undefined}
            hint={
              input.description ?? `Goes into ${input.places.join(', ')}.${input.secret ? ' Stored encrypted.' : ''}`
            }
          >
            {(control) =>
              input.options ? (
                <Select {...control} {...props}>
                  <option value="">{input.default ? `Default: ${input.default}` : 'Choose'}</option>
                  {input.options.map((option) => (
                    <option key={option} value={option}>
                      {option}
                    </option>
                  ))}
                </Select>
              ) : (
                <Input
                  {...control}
                  {...props}
                  type={input.secret ? 'password' : 'text'}
                  autoComplete={input.secret ? 'new-password' : 'off'}
                  placeholder={input.default ?? ''}
                  className="font-mono"
                />
              )
            }
          </Field>
        )
      })}
    </div>
  )
}
