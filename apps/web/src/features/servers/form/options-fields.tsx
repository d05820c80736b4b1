import { useStore } from '@tanstack/react-form'
import { type ReactNode, useId } from 'react'
import { cn } from '../../../ui/cn.ts'
import { FieldHint } from '../../../ui/form/field.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { TIMEOUTS, type TimeoutName } from './draft-options.ts'
import type { DraftForm } from './use-draft-form.ts'

const TIMEOUT_LABELS: Record<TimeoutName, { label: string; placeholder: string }> = {
  connectMs: { label: 'Connecting', placeholder: '15' },
  introspectMs: { label: 'Listing tools', placeholder: '10' },
  callMs: { label: 'A call without progress', placeholder: '60' },
  totalMs: { label: 'A call in all', placeholder: '600' },
}

/** Rarely used options, folded unless one has an error. */
export function OptionsFields({ form }: { form: DraftForm }) {
  const isWrong = useStore(form.store, ({ fieldMeta }) =>
    Object.entries(fieldMeta).some(
      ([name, meta]) => meta?.errors.length && (name === 'hosts' || name.startsWith('options.')),
    ),
  )
  return (
    <details open={isWrong || undefined} className="rounded-xl border bg-sunken/40">
      <summary className="flex min-h-10 cursor-pointer items-center rounded-xl px-4 text-sm font-medium">
        More options
      </summary>
      <div className="grid gap-5 border-t p-4">
        <TrustFields form={form} />
        <FilterFields form={form} />
        <ProtocolField form={form} />
        <TimeoutFields form={form} />
      </div>
    </details>
  )
}

function TrustFields({ form }: { form: DraftForm }) {
  return (
    <>
      <form.AppField name="options.account">
        {(field) => <field.TextField label="Account" optional hint="Whose account this is, where you have several." />}
      </form.AppField>
      <form.Field name="options.untrusted">
        {({ state, handleChange }) => (
          <SwitchRow
            label="Do not trust this server"
            hint="Loadout ignores the hints of its tools, and new tools are off until you accept them."
            checked={state.value}
            onChange={handleChange}
          />
        )}
      </form.Field>
      <form.Field name="options.deferLoading">
        {({ state, handleChange }) => (
          <SwitchRow
            label="Load tools when they are needed"
            hint="Off: all of them are in the context of every conversation that carries this server."
            checked={state.value}
            onChange={handleChange}
          />
        )}
      </form.Field>
      <form.AppField name="options.callers">
        {(field) => (
          <field.SelectField label="Who may call its tools">
            <option value="both">Models and programs</option>
            <option value="direct">Models, not programs</option>
            <option value="code">Programs alone</option>
          </field.SelectField>
        )}
      </form.AppField>
    </>
  )
}

function FilterFields({ form }: { form: DraftForm }) {
  const hasHosts = useStore(form.store, ({ values }) => values.type === 'stdio' && values.template === '')
  return (
    <>
      <form.AppField name="options.include">
        {(field) => (
          <field.TextareaField
            label="Only these tools"
            optional
            hint="Names or patterns, one on each line. Empty: all."
            autoCapitalize="off"
            placeholder="read_*"
            className="min-h-10 font-mono"
          />
        )}
      </form.AppField>
      <form.AppField name="options.exclude">
        {(field) => (
          <field.TextareaField
            label="Not these tools"
            optional
            hint="The switches of single tools stand here too."
            autoCapitalize="off"
            placeholder="delete_*"
            className="min-h-10 font-mono"
          />
        )}
      </form.AppField>
      {hasHosts && (
        <form.AppField name="hosts">
          {(field) => (
            <field.TextareaField
              label="Hosts it may reach"
              optional
              hint="For a server in a sandbox, one on each line. Without any it has no network there."
              autoCapitalize="off"
              placeholder="api.example.com"
              className="min-h-10 font-mono"
            />
          )}
        </form.AppField>
      )}
    </>
  )
}

function ProtocolField({ form }: { form: DraftForm }) {
  return (
    <form.AppField name="options.protocol">
      {(field) => (
        <field.SelectField
          label="Protocol"
          hint="Auto negotiates, and uses the legacy protocol for servers that need it."
        >
          <option value="auto">Auto</option>
          <option value="legacy">Legacy</option>
          <option value="modern">Modern</option>
        </field.SelectField>
      )}
    </form.AppField>
  )
}

function TimeoutFields({ form }: { form: DraftForm }) {
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-2 text-sm font-medium">How long it may take, in seconds</legend>
      <div className="grid grid-cols-1 gap-3 min-[26rem]:grid-cols-2">
        {TIMEOUTS.map((name) => (
          <form.AppField key={name} name={`options.${name}`}>
            {(field) => <field.TextField optional inputMode="decimal" {...TIMEOUT_LABELS[name]} />}
          </form.AppField>
        ))}
      </div>
    </fieldset>
  )
}

interface SwitchRowProps {
  label: string
  hint: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  className?: string
}

export function SwitchRow({ label, hint, checked, onChange, className }: SwitchRowProps) {
  const id = useId()
  return (
    <div className={cn('flex items-start gap-3', className)}>
      <Switch id={id} checked={checked} onCheckedChange={onChange} aria-describedby={`${id}-hint`} />
      <div className="grid gap-0.5">
        <label htmlFor={id} className="text-sm leading-6 font-medium">
          {label}
        </label>
        <FieldHint id={`${id}-hint`}>{hint}</FieldHint>
      </div>
    </div>
  )
}
