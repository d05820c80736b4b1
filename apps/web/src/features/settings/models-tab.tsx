import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { toast } from 'sonner'
import { answer, client } from '../../api.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Section, Waiting } from '../operator/section.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { PROVIDER_NAMES } from '../threads/model-dialog.tsx'
import { type Models, modelsQuery } from '../threads/queries.ts'
import { toastProblem } from '../threads/use-threads.ts'

type Provider = Models['providers'][number]

export function ModelsTab() {
  const { data, error } = useQuery(modelsQuery())
  if (error) return <ProblemNotice error={error} />
  if (!data) return <Waiting label="Loading providers" />
  return (
    <Section
      title="Model keys"
      note={
        <>
          Your chats and agents use your own key before the app’s. A key is sealed on the server, written and never
          shown.{' '}
          {data.model ? (
            <>
              Where you choose no model, <code className="font-mono text-[0.9em]">{data.model}</code> is asked.
            </>
          ) : (
            'No model is set for all; choose one in a thread.'
          )}
        </>
      }
    >
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {data.providers.map((one) => (
          <ProviderRow key={one.provider} provider={one.provider} has={one.key} />
        ))}
      </ul>
    </Section>
  )
}

const HAS = { user: 'Your own key', app: 'The app’s key', none: 'No key' } as const

function useModelKey(provider: Provider['provider']) {
  const queryClient = useQueryClient()
  const name = PROVIDER_NAMES[provider]
  const done = (words: string) => () => {
    toast.success(words)
    queryClient.invalidateQueries({ queryKey: ['models'] })
  }
  const save = useMutation({
    mutationFn: (key: string) =>
      answer(client.api.models[':provider'].key.$put({ param: { provider }, json: { key } })),
    onSuccess: done(`Key for ${name} saved`),
  })
  const clear = useMutation({
    mutationFn: () => answer(client.api.models[':provider'].key.$delete({ param: { provider } })),
    onSuccess: done(`Key for ${name} removed`),
    onError: toastProblem,
  })
  return { save, clear }
}

function ProviderRow({ provider, has }: { provider: Provider['provider']; has: Provider['key'] }) {
  const name = PROVIDER_NAMES[provider]
  const { save, clear } = useModelKey(provider)
  const [isOpen, setOpen] = useState(false)
  const [key, setKey] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (save.isPending || key.trim() === '') return
    const saved = () => {
      setKey('')
      setOpen(false)
    }
    save.mutate(key.trim(), { onSuccess: saved })
  }
  return (
    <li className="grid gap-3 px-4 py-3 sm:px-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h3 className="font-medium">{name}</h3>
        <Badge>{HAS[has]}</Badge>
        <span className="ml-auto flex gap-2">
          <Button
            size="small"
            aria-expanded={isOpen}
            aria-label={`Set your key for ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {has === 'user' ? 'Replace' : 'Set key'}
          </Button>
          {has === 'user' && (
            <Button
              size="small"
              variant="quiet"
              aria-label={`Remove your key for ${name}`}
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
                <Input {...control} type="password" value={key} onChange={(event) => setKey(event.target.value)} />
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
