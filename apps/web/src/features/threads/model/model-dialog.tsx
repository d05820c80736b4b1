import { useStore } from '@tanstack/react-form'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { fieldError, onFormSubmit, submitForm, useAppForm } from '../../../lib/form.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
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
  const form = useAppForm({
    defaultValues: {
      provider: providerOf(start) || usable(models),
      name: start.slice(start.indexOf(':') + 1),
      programs: options.programs === true,
      maxSteps: options.maxSteps,
      budget: options.budget,
      usesDefault: false,
    },
    onSubmit: ({ value: { provider, name, programs, maxSteps, budget, usesDefault } }) => {
      const written = `${provider}:${name.trim()}`
      // Choosing the operator's model stores no choice, so that it follows later changes.
      const follows = usesDefault || (options.model === undefined && written === models.model)
      onChoose({ ...options, programs: programs || undefined, maxSteps, budget, model: follows ? undefined : written })
      onClose()
    },
  })
  const provider = useStore(form.store, ({ values }) => values.provider)
  const chooseDefault = async () => {
    form.setFieldValue('usesDefault', true)
    await submitForm(form)
    form.setFieldValue('usesDefault', false)
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onClosed={onClosed}>
        <DialogHeader title="Model" description="Who answers in this browser, and within what." />
        <form noValidate onSubmit={onFormSubmit(form)} className="flex min-h-0 flex-1 flex-col">
          <div className="grid flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
            <form.AppField name="provider">
              {(field) => (
                <field.SelectField label="Provider" hint={<KeysHint />}>
                  {models.providers.map((option) => (
                    <option key={option.provider} value={option.provider}>
                      {PROVIDER_NAMES[option.provider]} ({KEY_LABELS[option.key]})
                    </option>
                  ))}
                </field.SelectField>
              )}
            </form.AppField>
            <form.Field
              name="name"
              validators={{
                onSubmit: ({ value, fieldApi }) => nameError(value, fieldApi.form.state.values.usesDefault),
              }}
            >
              {({ state, handleChange }) => (
                <NameField
                  names={namesOf(models, provider)}
                  value={state.value}
                  onChange={handleChange}
                  error={fieldError(state.meta.errors, 'Model')}
                />
              )}
            </form.Field>
            <div className="grid gap-5 border-t pt-5">
              <form.Field name="programs">
                {({ state, handleChange }) => (
                  <SwitchField
                    label="Programs"
                    hint="The model may write a program that calls several tools, and reads only what it returns."
                    checked={state.value}
                    onChange={handleChange}
                  />
                )}
              </form.Field>
              <div className="grid items-start gap-4 sm:grid-cols-2">
                <form.Field name="maxSteps" validators={{ onSubmit: ({ value }) => stepsProblem(value) }}>
                  {({ state, handleChange }) => (
                    <CountInput
                      optional
                      label="Most steps"
                      value={state.value}
                      onChange={handleChange}
                      error={fieldError(state.meta.errors, 'Most steps')}
                      hint="Questions to the model for one answer; 20 if not given."
                    />
                  )}
                </form.Field>
                <form.Field name="budget" validators={{ onSubmit: ({ value }) => budgetProblem(value) }}>
                  {({ state, handleChange }) => (
                    <CountInput
                      optional
                      label="Most tokens"
                      value={state.value}
                      onChange={handleChange}
                      error={fieldError(state.meta.errors, 'Most tokens')}
                      hint="For one answer, sent and said; no end if not given."
                    />
                  )}
                </form.Field>
              </div>
            </div>
          </div>
          <DialogFooter>
            {models.model && (
              <Button className="mr-auto" onClick={chooseDefault}>
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

const KeysHint = () => (
  <>
    Keys are sealed on the server; save yours in{' '}
    <Link to="/settings" search={{ tab: 'models' }} className="text-accent underline underline-offset-4">
      Settings, Model keys
    </Link>
    .
  </>
)

const nameError = (name: string, usesDefault: boolean): string | undefined =>
  usesDefault || /^\S+$/.test(name.trim()) ? undefined : 'Name a model, as its provider writes it.'

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

const usable = ({ providers }: Models): string =>
  (providers.find(({ key }) => key !== 'none') ?? providers[0])?.provider ?? 'anthropic'
