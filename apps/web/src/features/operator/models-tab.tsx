import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { modelsQuery } from './queries.ts'
import { Section, Waiting } from './section.tsx'
import { useAppKey } from './use-app.ts'

/** Keys for providers of models, for all users who have none of their own. A key is written and never shown. */
export function ModelsTab() {
  const { data, error } = useQuery(modelsQuery())
  if (error) return <ProblemNotice error={error} />
  if (!data) return <Waiting label="Loading providers" />
  return (
    <Section
      title="Keys for everyone"
      note={
        data.model ? (
          <>
            Chats and agents ask <code className="font-mono text-[0.9em]">{data.model}</code> where none is named.
          </>
        ) : (
          'No model is set: without LOADOUT_MODEL, chats and agents must name one.'
        )
      }
    >
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {data.providers.map(({ provider, key }) => (
          <Provider key={provider} provider={provider} has={key} />
        ))}
      </ul>
    </Section>
  )
}

const HAS = { app: 'Key for everyone', user: 'You have your own', none: 'No key' } as const

function Provider({ provider, has }: { provider: string; has: keyof typeof HAS }) {
  const { save, clear } = useAppKey(provider)
  const [isOpen, setOpen] = useState(false)
  const [key, setKey] = useState('')
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (save.isPending || key.trim() === '') return
    save.mutate(key.trim(), {
      onSuccess: () => {
        setKey('')
        setOpen(false)
      },
    })
  }
  return (
    <li className="grid gap-3 px-4 py-3 sm:px-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h3 className="font-medium">{provider}</h3>
        <Badge>{HAS[has]}</Badge>
        <span className="ml-auto flex gap-2">
          <Button
            size="small"
            aria-expanded={isOpen}
            aria-label={`Set the key for ${provider}`}
            onClick={() => setOpen(!isOpen)}
          >
            {has === 'app' ? 'Replace' : 'Set key'}
          </Button>
          <Button
            size="small"
            variant="quiet"
            aria-disabled={clear.isPending}
            aria-label={`Remove the key for ${provider}`}
            onClick={() => !clear.isPending && clear.mutate()}
          >
            Remove
          </Button>
        </span>
      </div>
      {isOpen && (
        <form noValidate onSubmit={submit} className="flex flex-wrap items-end gap-2">
          <Field label={`Key for ${provider}`} className="min-w-0 flex-1 basis-60">
            {(control) => (
              <Input {...control} type="password" value={key} onChange={({ target }) => setKey(target.value)} />
            )}
          </Field>
          <Button type="submit" variant="primary" aria-disabled={save.isPending}>
            {save.isPending ? 'Saving…' : 'Save key'}
          </Button>
        </form>
      )}
      {save.error && <ProblemNotice error={save.error} />}
    </li>
  )
}
