import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { Field } from '../../../../ui/form/field.tsx'
import { Input } from '../../../../ui/form/input.tsx'
import { PROVIDER_NAMES } from '../../../threads/model/model-dialog.tsx'
import { wholeNames } from '../../../threads/model/model-names.ts'
import { modelState } from '../../../threads/model/use-model.ts'
import { modelsQuery } from '../../../threads/queries.ts'

interface ModelFieldProps {
  value: string | undefined
  onChange: (model: string | undefined) => void
  /** Models of other nodes. */
  others: readonly string[]
  error: string | undefined
}

/** Model input with suggestions; other names are allowed. A missing key is reported before a run fails. */
export function ModelField({ value, onChange, others, error }: ModelFieldProps) {
  const { data: models } = useQuery(modelsQuery())
  const list = useId()
  return (
    <Field optional label="Model" error={error} hint={<Hint models={models} value={value} />}>
      {(control) => (
        <>
          <Input
            {...control}
            list={list}
            value={value ?? ''}
            placeholder={models?.model}
            onChange={({ target }) => onChange(target.value || undefined)}
          />
          <datalist id={list}>
            {[...new Set([...(models ? wholeNames(models) : []), ...others])].map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function Hint({ models, value }: { models: Parameters<typeof modelState>[0] | undefined; value: string | undefined }) {
  if (!models) return 'provider:model; without it the default.'
  const state = modelState(models, value)
  if (state.status !== 'missing') return value ? 'provider:model' : 'Without it the operator’s.'
  if (state.what === 'model') return 'provider:model; the operator named none, so the node needs one.'
  const name = PROVIDER_NAMES[state.provider as keyof typeof PROVIDER_NAMES]
  if (!name) return 'provider:model, as in anthropic:claude-opus-5-5.'
  return (
    <>
      There is no key for {name}:{' '}
      <Link to="/settings" search={{ tab: 'models' }} className="text-accent underline underline-offset-4">
        save one in Settings
      </Link>
      .
    </>
  )
}
