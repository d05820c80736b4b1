import { Link } from '@tanstack/react-router'
import { type SubmitEvent, useId, useState } from 'react'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input, Select } from '../../../ui/form/input.tsx'
import { SwitchField } from '../../../ui/form/switch-field.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import { CountInput } from '../../workflows/editor/fields/count-input.tsx'
import { budgetProblem, type ChatOptions, stepsProblem } from '../chat/chat-options.ts'
import type { Models } from '../queries.ts'
import { namesOf } from './model-names.ts'
import { providerOf } from './use-model.ts'

export const PROVIDER_NAMES: Record<Models['providers'][number]['provider'], string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible',
}

const KEY_LABELS = { user: 'your key', app: 'key of the app', none: 'no key' } as const

interface ModelDialogProps {
  models: Models
  options: ChatOptions
  onChoose: (options: ChatOptions) => void
  onClose: () => void
  onClosed: () => void
}

/** Dialog for model and response limits. */
export function ModelDialog({ models, options, onChoose, onClose, onClosed }: ModelDialogProps) {
  const start = options.model ?? models.model ?? ''
  const [provider, setProvider] = useState(providerOf(start) || usable(models))
  const [name, setName] = useState(start.slice(start.indexOf(':') + 1))
  const [within, setWithin] = useState(options)
  const [tried, setTried] = useState(false)
  const isNamed = /^\S+$/.test(name.trim())
  const choose = (model: string | undefined) => {
    setTried(true)
    if (stepsProblem(within.maxSteps) ?? budgetProblem(within.budget)) return
    onChoose({ ...within, model })
    onClose()
  }
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    setTried(true)
    const written = `${provider}:${name.trim()}`
    // Choosing the operator's model stores no choice, so that it follows later changes.
    if (isNamed) choose(options.model === undefined && written === models.model ? undefined : written)
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader title="Model" description="Who answers in this browser, and within what." />
        <form noValidate onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
          <div className="grid flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
            <ProviderField models={models} value={provider} onChange={setProvider} />
            <NameField
              names={namesOf(models, provider)}
              value={name}
              onChange={setName}
              error={tried && !isNamed ? 'Name a model, as its provider writes it.' : undefined}
            />
            <WithinFields value={within} onChange={setWithin} isTried={tried} />
          </div>
          <DialogFooter>
            {models.model && (
              <Button className="mr-auto" onClick={() => choose(undefined)}>
                Use the operator’s
              </Button>
            )}
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary">
              Use it
            </Button>
          </DialogFooter>
        </form>
      </DialogContent>
    </Dialog>
  )
}

interface ProviderFieldProps {
  models: Models
  value: string
  onChange: (provider: string) => void
}

function ProviderField({ models, value, onChange }: ProviderFieldProps) {
  return (
    <Field
      label="Provider"
      hint={
        <>
          Keys are sealed on the server; save yours in{' '}
          <Link to="/settings" search={{ tab: 'models' }} className="text-accent underline underline-offset-4">
            Settings, Model keys
          </Link>
          .
        </>
      }
    >
      {(control) => (
        <Select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
          {models.providers.map(({ provider, key }) => (
            <option key={provider} value={provider}>
              {PROVIDER_NAMES[provider]} ({KEY_LABELS[key]})
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

interface NameFieldProps {
  /** Suggestions; other names are allowed. */
  names: readonly string[]
  value: string
  onChange: (name: string) => void
  error: string | undefined
}

function NameField({ names, value, onChange, error }: NameFieldProps) {
  const list = useId()
  return (
    <Field label="Model" hint="As the provider names it." error={error}>
      {(control) => (
        <>
          <Input
            {...control}
            {...(names.length > 0 ? { list } : {})}
            className="font-mono"
            value={value}
            maxLength={280}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={list}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

interface WithinProps {
  value: ChatOptions
  onChange: (value: ChatOptions) => void
  isTried: boolean
}

/** Limits of one response. */
function WithinFields({ value, onChange, isTried }: WithinProps) {
  return (
    <div className="grid gap-5 border-t pt-5">
      <SwitchField
        label="Programs"
        hint="The model may write a program that calls several tools, and reads only what it returns."
        checked={value.programs === true}
        onChange={(programs) => onChange({ ...value, programs: programs || undefined })}
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <CountInput
          optional
          label="Most steps"
          value={value.maxSteps}
          onChange={(maxSteps) => onChange({ ...value, maxSteps })}
          error={isTried ? stepsProblem(value.maxSteps) : undefined}
          hint="Questions to the model for one answer; 20 if not given."
        />
        <CountInput
          optional
          label="Most tokens"
          value={value.budget}
          onChange={(budget) => onChange({ ...value, budget })}
          error={isTried ? budgetProblem(value.budget) : undefined}
          hint="For one answer, sent and said; no end if not given."
        />
      </div>
    </div>
  )
}

const usable = ({ providers }: Models): string =>
  (providers.find(({ key }) => key !== 'none') ?? providers[0])?.provider ?? 'anthropic'
