import { useStore } from '@tanstack/react-form'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { problemOf } from '../../../lib/api.ts'
import { fieldError, onFormSubmit, useAppForm, useStoredValues } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { UnsavedDialog, useUnsaved } from '../../../lib/unsaved.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input, Textarea } from '../../../ui/form/input.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { type AppConfig, appConfigQuery } from '../queries.ts'
import { Loading, Section } from '../section.tsx'
import { CONFIG_SECTIONS, type ConfigField, configDraft, patchOf, valuesByPath } from './config-fields.ts'
import { useChangeConfig } from './use-app.ts'

export function ConfigTab() {
  const { data, error } = useQuery(appConfigQuery())
  if (error && !data) return <ProblemNotice error={error} />
  return data ? <ConfigForm config={data} /> : <Loading label="Loading settings" />
}

function ConfigForm({ config }: { config: AppConfig }) {
  const stored = useMemo(() => configDraft(config), [config])
  const save = useChangeConfig()
  const form = useAppForm({
    defaultValues: stored,
    onSubmit: async ({ value, formApi }) => {
      const changes = patchOf(value, stored)
      if (Object.keys(changes).length === 0) return
      await save.mutateAsync(changes)
      formApi.reset(value)
    },
  })
  useStoredValues(
    form,
    useMemo(() => valuesByPath(stored), [stored]),
  )
  const isChanged = useStore(form.store, ({ values }) => Object.keys(patchOf(values, stored)).length > 0)
  const errors = save.error ? (problemOf(save.error).errors ?? []) : []
  const areAllPlaced = errors.every(({ path }) =>
    CONFIG_SECTIONS.some(({ fields }) => fields.some((field) => path.startsWith(field.path))),
  )
  const leaving = useUnsaved(isChanged)
  return (
    <form noValidate className="grid gap-8" onSubmit={onFormSubmit(form)}>
      {save.error && <ProblemNotice error={save.error} folded={errors.length > 0 && areAllPlaced} />}
      {CONFIG_SECTIONS.map(({ title, note, fields }) => (
        <Section key={title} title={title} note={note}>
          <div className="grid items-start gap-5 rounded-xl border bg-surface p-4 shadow-flat sm:grid-cols-2 sm:p-5">
            {fields.map((field) => (
              <form.Field key={field.path} name={field.path as `${string}.${string}`}>
                {({ state, handleChange }) => (
                  <ConfigInput
                    field={field}
                    value={state.value}
                    error={configError(state.meta.errors, field.label)}
                    onChange={handleChange}
                  />
                )}
              </form.Field>
            ))}
          </div>
        </Section>
      ))}
      {/* Left-aligned, so that toasts on the right do not cover the buttons. */}
      <div className="sticky bottom-0 -mx-1 flex flex-wrap items-center gap-3 border-t bg-canvas px-1 py-3">
        <Button type="submit" variant="primary" aria-disabled={!isChanged || save.isPending}>
          {save.isPending ? 'Saving…' : 'Save settings'}
        </Button>
        {isChanged && <Button onClick={() => form.reset(stored)}>Discard</Button>}
        {isChanged && <span className="text-sm text-ink-muted">There are changes that are not saved.</span>}
      </div>
      <UnsavedDialog leaving={leaving}>
        <p>The settings that you changed have not been saved.</p>
      </UnsavedDialog>
    </form>
  )
}

interface ConfigInputProps {
  field: ConfigField
  value: string | boolean
  error: string | undefined
  onChange: (value: string | boolean) => void
}

function ConfigInput({ field: { path, label, hint, kind }, value, error, onChange }: ConfigInputProps) {
  if (kind === 'switch')
    return (
      <div className="flex items-start justify-between gap-4 sm:col-span-2">
        <div className="grid gap-0.5 text-sm">
          <span className="font-medium">{label}</span>
          <span id={`${path}-hint`} className="text-[0.8125rem] text-ink-muted">
            {error ?? hint}
          </span>
        </div>
        <Switch
          aria-label={label}
          aria-describedby={`${path}-hint`}
          checked={value === true}
          onCheckedChange={onChange}
        />
      </div>
    )
  const text = typeof value === 'string' ? value : ''
  return (
    <Field label={label} hint={hint} error={error} className={kind === 'number' ? '' : 'sm:col-span-2'}>
      {(control) =>
        kind === 'lines' ? (
          <Textarea
            {...control}
            value={text}
            onChange={({ target }) => onChange(target.value)}
            className="font-mono text-[0.8125rem]"
          />
        ) : (
          <Input
            {...control}
            inputMode={kind === 'number' ? 'numeric' : 'url'}
            value={text}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  )
}

function configError(errors: readonly unknown[], label: string): string | undefined {
  const error = fieldError(errors, label)
  return error !== undefined && /expected number/.test(error) ? `${label} must be a number.` : error
}
