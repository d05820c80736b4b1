import { useQuery } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { type Models, modelsQuery } from '../../threads/queries.ts'
import { Loading, Section } from '../section.tsx'

type Provider = Models['providers'][number]
export interface ProviderRowProps {
  provider: Provider['provider']
  has: Provider['key']
}

interface ProviderKeysProps {
  title: string
  note: (model: string | undefined) => ReactNode
  row: ComponentType<ProviderRowProps>
}

/** Write-only keys of model providers, of a user or of the app. */
export function ProviderKeys({ title, note, row: Row }: ProviderKeysProps) {
  const { data, error } = useQuery(modelsQuery())
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading providers" />
  return (
    <Section title={title} note={note(data.model)}>
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {data.providers.map(({ provider, key }) => (
          <Row key={provider} provider={provider} has={key} />
        ))}
      </ul>
    </Section>
  )
}

/** A model name inside a sentence. */
export const ModelName = ({ model }: { model: string }) => <code className="font-mono text-[0.9em]">{model}</code>
