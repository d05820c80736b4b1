import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client } from '../../lib/api.ts'
import { toastProblem } from '../../lib/problems.tsx'
import { ProviderKey } from '../operator/system/provider-key.tsx'
import { ModelName, ProviderKeys, type ProviderRowProps } from '../operator/system/provider-keys.tsx'
import { PROVIDER_NAMES } from '../threads/model/model-dialog.tsx'

export const ModelsTab = () => <ProviderKeys title="Model keys" note={noteOf} row={ProviderRow} />

const noteOf = (model: string | undefined) => (
  <>
    Your chats and agents use your own key before the app’s. A key is sealed on the server, written and never shown.{' '}
    {model ? (
      <>
        Where you choose no model, <ModelName model={model} /> is asked.
      </>
    ) : (
      'No model is set for all; choose one in a thread.'
    )}
  </>
)

const HAS = { user: 'Your own key', app: 'The app’s key', none: 'No key' } as const

function useModelKey(provider: ProviderRowProps['provider']) {
  const queryClient = useQueryClient()
  const name = PROVIDER_NAMES[provider]
  const done = (message: string) => () => {
    toast.success(message)
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

function ProviderRow({ provider, has }: ProviderRowProps) {
  const { save, clear } = useModelKey(provider)
  const can = { replace: has === 'user', remove: has === 'user' }
  return <ProviderKey name={PROVIDER_NAMES[provider]} owner="your" has={HAS[has]} can={can} save={save} clear={clear} />
}
