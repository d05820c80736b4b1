import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { onFormSubmit, useAppForm } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { Button } from '../../../ui/form/button.tsx'

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
  const form = useAppForm({
    defaultValues: { key: '' },
    onSubmit: async ({ value: { key }, formApi }) => {
      if (key.trim() === '') return
      await save.mutateAsync(key.trim())
      formApi.reset()
      setOpen(false)
    },
  })
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
        <form noValidate onSubmit={onFormSubmit(form)} className="grid gap-3">
          {save.error && <ProblemNotice error={save.error} />}
          <div className="flex flex-wrap items-end gap-2">
            <form.AppField name="key">
              {(field) => (
                <field.TextField
                  label={`Key for ${name}`}
                  fieldClassName="min-w-0 flex-1 basis-60"
                  type="password"
                  autoComplete="off"
                />
              )}
            </form.AppField>
            <Button type="submit" variant="primary" aria-disabled={save.isPending}>
              {save.isPending ? 'Saving…' : 'Save key'}
            </Button>
          </div>
        </form>
      )}
    </li>
  )
}
