import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, type LucideIcon, RefreshCw, TextCursorInput } from 'lucide-react'
import { useId } from 'react'
import { plainly, toolkitsQuery } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { Field } from '../../../ui/form/field.tsx'
import { Input, Select } from '../../../ui/form/input.tsx'
import { addressOf } from '../list/server-kind.tsx'
import type { ImportedEntry } from '../queries.ts'
import { pastedAddress } from './pasted-address.ts'
import { isReady, type Paste } from './use-paste.ts'

type Status = ImportedEntry['status']

const LOOKS: Record<Status, { icon: LucideIcon; className: string; plan: string; done: string }> = {
  added: { icon: CircleCheck, className: 'text-good', plan: 'Will be added', done: 'Added' },
  updated: { icon: RefreshCw, className: 'text-act', plan: 'Replaces the one that you have', done: 'Replaced' },
  'needs-input': {
    icon: TextCursorInput,
    className: 'text-act',
    plan: 'Needs a value',
    done: 'Not taken: it needs a value',
  },
  rejected: { icon: CircleX, className: 'text-bad', plan: 'Cannot be taken', done: 'Not taken' },
}

/** Import preview of one entry, with its missing inputs. */
export function ImportEntry({ entry, paste, done }: { entry: ImportedEntry; paste: Paste; done: boolean }) {
  const id = useId()
  const { icon: Icon, className, plan, done: was } = LOOKS[entry.status]
  const notes = [
    entry.status === 'rejected' ? entry.reason && plainly(entry.reason) : undefined,
    ...entry.warnings,
  ].filter((note) => note)
  return (
    <li className="grid gap-3 p-3.5">
      <div className="flex items-start gap-3">
        {isReady(entry) && !done ? (
          <input
            id={id}
            type="checkbox"
            checked={paste.isSelected(entry)}
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
          <span
            className={cn(
              'flex items-center gap-1.5 text-[0.8125rem]',
              done && isReady(entry) ? 'text-good' : className,
            )}
          >
            {isReady(entry) && !done && <Icon aria-hidden className="size-3.5" />}
            {done ? was : plan}
          </span>
          {entry.status === 'updated' && !done && <Replaced entry={entry} text={paste.text} />}
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

/** Current and new address of a replaced server. */
function Replaced({ entry, text }: { entry: ImportedEntry; text: string }) {
  const { data: toolkits } = useQuery(toolkitsQuery())
  const before = toolkits?.find(({ id, tier }) => tier === 'user' && id === entry.id)
  const addresses: Array<[term: string, line: string | undefined]> = [
    ['Now', before && addressOf(before)],
    ['Then', pastedAddress(text, entry.name)],
  ]
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-[0.8125rem] text-ink-muted">
      {addresses.map(([term, address]) =>
        address ? (
          <div key={term} className="col-span-2 grid grid-cols-subgrid items-baseline">
            <dt>{term}</dt>
            <dd className="font-mono text-xs wrap-anywhere text-ink">{address}</dd>
          </div>
        ) : null,
      )}
    </dl>
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
