import { PROVIDER_NAMES } from '../../threads/model/model-dialog.tsx'
import { ProviderKey } from './provider-key.tsx'
import { ModelName, ProviderKeys, type ProviderRowProps } from './provider-keys.tsx'
import { useAppKey } from './use-app.ts'

/** App keys, for users without their own key. */
export const AppModelsTab = () => <ProviderKeys title="Keys for everyone" note={noteOf} row={Provider} />

const noteOf = (model: string | undefined) =>
  model ? (
    <>
      Chats and agents ask <ModelName model={model} /> where none is named. These keys are for it, and for what
      LOADOUT_MODELS lists.
    </>
  ) : (
    'These keys are for the models that LOADOUT_MODEL and LOADOUT_MODELS name: without either they serve nobody.'
  )

const HAS = { app: 'Key for everyone', user: 'You have your own', none: 'No key' } as const

function Provider({ provider, has }: ProviderRowProps) {
  const name = PROVIDER_NAMES[provider]
  const { save, clear } = useAppKey(provider, name)
  // The API hides the app key behind an own key, so remove is always offered.
  const can = { replace: has === 'app', remove: has !== 'none' }
  return <ProviderKey name={name} owner="the" has={HAS[has]} can={can} save={save} clear={clear} />
}
