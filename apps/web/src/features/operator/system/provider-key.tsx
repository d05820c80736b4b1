import type { UseMutationResult } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'

interface ProviderKeyProps {
  name: string
  /** Owner of the key, as in the button labels. */
  owner: 'your' | 'the'
  /** Key status text. */
  has: string
  can: { replace: boolean; remove: boolean }
  save: UseMutationResult<unknown, Error, string>
  clear: { isPending: boolean; mutate: () => void }
}

/** Key of one model provider: write-only, replaceable and removable. */
export function ProviderKey({ name, owner, has, can, save, clear }: ProviderKeyProps) {
  const [isOpen, setOpen] = useState(false)
  const [key, setKey] = useState('')
  const saved = () => {
    setKey('')
    setOpen(false)
  }
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (!save.isPending && key.trim() !== '') save.mutate(key.trim(), { onSuccess: saved })
  }
  return (
    <li className="grid gap-3 px-4 py-3 sm:px-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h3 className="font-medium">{name}</h3>
        <Badge>{has}</Badge>
        <span className="ml-auto flex gap-2">
          <Button
            size="small"
            aria-expanded={isOpen}
            aria-label={`Set ${owner} key for ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {can.replace ? 'Replace' : 'Set key'}
          </Button>
          {can.remove && (
            <Button
              size="small"
              variant="quiet"
              aria-label={`Remove ${owner} key for ${name}`}
              aria-disabled={clear.isPending}
              onClick={() => !clear.isPending && clear.mutate()}
            >
              Remove
            </Button>
          )}
        </span>
      </div>
      {isOpen && (
        <form noValidate onSubmit={submit} className="grid gap-3">
          {save.error && <ProblemNotice error={save.error} />}
          <div className="flex flex-wrap items-end gap-2">
            <Field label={`Key for ${name}`} className="min-w-0 flex-1 basis-60">
              {(control) => (
                <Input
                  {...control}
                  type="password"
                  autoComplete="off"
                  value={key}
                  onChange={({ target }) => setKey(target.value)}
                />
              )}
            </Field>
            <Button type="submit" variant="primary" aria-disabled={save.isPending}>
              {save.isPending ? 'Saving…' : 'Save key'}
            </Button>
          </div>
        </form>
      )}
    </li>
  )
}
