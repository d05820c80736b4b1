import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client } from '../../api.ts'
import { ProviderKey } from '../operator/provider-key.tsx'
import { Section, Waiting } from '../operator/section.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { toastProblem } from '../shell/toast-problem.ts'
import { PROVIDER_NAMES } from '../threads/model-dialog.tsx'
import { type Models, modelsQuery } from '../threads/queries.ts'

type Provider = Models['providers'][number]

export function ModelsTab() {
  const { data, error } = useQuery(modelsQuery())
  if (error && !data) return <ProblemNotice error={error} />
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
  const { save, clear } = useModelKey(provider)
  const can = { replace: has === 'user', remove: has === 'user' }
  return <ProviderKey name={PROVIDER_NAMES[provider]} whose="your" has={HAS[has]} can={can} save={save} clear={clear} />
}
