import { type ReactNode, useId } from 'react'
import { cn } from '../../../ui/cn.ts'
import { Field, FieldHint } from '../../../ui/form/field.tsx'
import { Input, Select, Textarea } from '../../../ui/form/input.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { type Callers, type OptionsDraft, type Protocol, TIMEOUTS, type TimeoutName } from './draft-options.ts'
import type { Form } from './form.ts'

const TIMEOUT_LABELS: Record<TimeoutName, { label: string; placeholder: string }> = {
  connectMs: { label: 'Connecting', placeholder: '15' },
  introspectMs: { label: 'Listing tools', placeholder: '10' },
  callMs: { label: 'A call without progress', placeholder: '60' },
  totalMs: { label: 'A call in all', placeholder: '600' },
}

/** Rarely used options, folded unless one has an error. */
export function OptionsFields({ form }: { form: Form }) {
  const { draft, errors } = form
  const names = [...Object.keys(draft.options), 'hosts']
  const isWrong = names.some((name) => errors[name] !== undefined)
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

type Change = (changes: Partial<OptionsDraft>) => void
const changer =
  ({ draft, change }: Form): Change =>
  (changes) =>
    change({ options: { ...draft.options, ...changes } })

function TrustFields({ form }: { form: Form }) {
  const { draft, errors } = form
  const change = changer(form)
  const { options } = draft
  return (
    <>
      <Field label="Account" optional error={errors.account} hint="Whose account this is, where you have several.">
        {(control) => (
          <Input {...control} value={options.account} onChange={(event) => change({ account: event.target.value })} />
        )}
      </Field>
      <SwitchRow
        label="Do not trust this server"
        hint="What it claims of its tools allows nothing, and new tools are off until you accept them."
        checked={options.untrusted}
        onChange={(untrusted) => change({ untrusted })}
      />
      <SwitchRow
        label="Load tools when they are needed"
        hint="Off: all of them are in the context of every conversation that carries this server."
        checked={options.deferLoading}
        onChange={(deferLoading) => change({ deferLoading })}
      />
      <Field label="Who may call its tools" error={errors.callers}>
        {(control) => (
          <Select
            {...control}
            value={options.callers}
            onChange={(event) => change({ callers: event.target.value as Callers })}
          >
            <option value="both">Models and programs</option>
            <option value="direct">Models, not programs</option>
            <option value="code">Programs alone</option>
          </Select>
        )}
      </Field>
    </>
  )
}

function FilterFields({ form }: { form: Form }) {
  const { draft, errors, change } = form
  const changeOptions = changer(form)
  const list = (field: 'include' | 'exclude', label: string, hint: string) => (
    <Field label={label} optional error={errors[field]} hint={hint}>
      {(control) => (
        <Textarea
          {...control}
          autoCapitalize="off"
          value={draft.options[field]}
          placeholder={field === 'include' ? 'read_*' : 'delete_*'}
          className="min-h-10 font-mono"
          onChange={(event) => changeOptions({ [field]: event.target.value })}
        />
      )}
    </Field>
  )
  return (
    <>
      {list('include', 'Only these tools', 'Names or patterns, one on each line. Empty: all.')}
      {list('exclude', 'Not these tools', 'The switches of single tools stand here too.')}
      {draft.type === 'stdio' && draft.template === '' && (
        <Field
          label="Hosts it may reach"
          optional
          error={errors.hosts}
          hint="For a server in a sandbox, one on each line. Without any it has no network there."
        >
          {(control) => (
            <Textarea
              {...control}
              autoCapitalize="off"
              value={draft.hosts}
              placeholder="api.example.com"
              className="min-h-10 font-mono"
              onChange={(event) => change({ hosts: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}

function ProtocolField({ form }: { form: Form }) {
  const change = changer(form)
  return (
    <Field
      label="Protocol"
      error={form.errors.protocol}
      hint="Auto negotiates, and uses the legacy protocol for servers that need it."
    >
      {(control) => (
        <Select
          {...control}
          value={form.draft.options.protocol}
          onChange={(event) => change({ protocol: event.target.value as Protocol })}
        >
          <option value="auto">Auto</option>
          <option value="legacy">Legacy</option>
          <option value="modern">Modern</option>
        </Select>
      )}
    </Field>
  )
}

function TimeoutFields({ form }: { form: Form }) {
  const change = changer(form)
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-2 text-sm font-medium">How long it may take, in seconds</legend>
      <div className="grid grid-cols-1 gap-3 min-[26rem]:grid-cols-2">
        {TIMEOUTS.map((name) => (
          <Field key={name} label={TIMEOUT_LABELS[name].label} optional error={form.errors[name]}>
            {(control) => (
              <Input
                {...control}
                inputMode="decimal"
                placeholder={TIMEOUT_LABELS[name].placeholder}
                value={form.draft.options[name]}
                onChange={(event) => change({ [name]: event.target.value })}
              />
            )}
          </Field>
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
