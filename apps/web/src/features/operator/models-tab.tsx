import { useQuery } from '@tanstack/react-query'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { PROVIDER_NAMES } from '../threads/model-dialog.tsx'
import { type Models, modelsQuery } from '../threads/queries.ts'
import { ProviderKey } from './provider-key.tsx'
import { Section, Waiting } from './section.tsx'
import { useAppKey } from './use-app.ts'

/** Keys for providers of models, for all users who have none of their own. A key is written and never shown. */
export function ModelsTab() {
  const { data, error } = useQuery(modelsQuery())
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Waiting label="Loading providers" />
  return (
    <Section
      title="Keys for everyone"
      note={
        data.model ? (
          <>
            Chats and agents ask <code className="font-mono text-[0.9em]">{data.model}</code> where none is named. These
            keys are for it, and for what LOADOUT_MODELS lists.
          </>
        ) : (
          'These keys are for the models that LOADOUT_MODEL and LOADOUT_MODELS name: without either they serve nobody.'
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

function Provider({ provider, has }: Pick<Models['providers'][number], 'provider'> & { has: keyof typeof HAS }) {
  const name = PROVIDER_NAMES[provider]
  const { save, clear } = useAppKey(provider, name)
  // Who has a key of their own does not see whether there is one for everyone: it can be removed all the same.
  const can = { replace: has === 'app', remove: has !== 'none' }
  return <ProviderKey name={name} whose="the" has={HAS[has]} can={can} save={save} clear={clear} />
}
