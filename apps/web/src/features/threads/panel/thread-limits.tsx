import { useStore } from '@tanstack/react-form'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { onFormSubmit, useAppForm, useStoredValues } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Meter } from '../../../ui/data/meter.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { SwitchField } from '../../../ui/form/switch-field.tsx'
import { loadoutQuery, type Thread } from '../queries.ts'
import { useChangeThread } from '../use-threads.ts'

type Limits = Thread['settings']['limits']

const FIELDS: ReadonlyArray<{ name: keyof Limits; label: string; hint: string }> = [
  { name: 'maxTokens', label: 'Most tokens of definitions', hint: 'Of all tools that are carried.' },
  { name: 'maxTools', label: 'Most tools', hint: 'Further ones are left out.' },
  { name: 'maxToolkits', label: 'Most toolkits', hint: 'Further ones are left out.' },
  {
    name: 'maxCallsPerHour',
    label: 'Most calls in an hour',
    hint: 'In this thread; yours and the operator’s hold too.',
  },
  { name: 'maxTokensPerDay', label: 'Most tokens in a day', hint: 'Of results, in this thread.' },
]

const textsOf = (limits: Limits) =>
  Object.fromEntries(FIELDS.map(({ name }) => [name, limits[name]?.toString() ?? ''])) as Record<keyof Limits, string>

/** Limits of the thread, which only narrow the user's limits. */
export function ThreadLimits({ thread }: { thread: Thread }) {
  const { data: loadout } = useQuery(loadoutQuery(thread.id))
  const change = useChangeThread(thread.id)
  const { limits, ...settings } = thread.settings
  const stored = useMemo(() => textsOf(limits), [limits])
  const form = useAppForm({
    defaultValues: stored,
    onSubmit: async ({ value, formApi }) => {
      const entries = FIELDS.flatMap(({ name }) => (value[name] === '' ? [] : [[name, Number(value[name])]]))
      await change.mutateAsync({ settings: { ...settings, limits: Object.fromEntries(entries) } })
      formApi.reset(value)
    },
  })
  useStoredValues(form, stored)
  const isChanged = useStore(form.store, ({ values }) => FIELDS.some(({ name }) => values[name] !== stored[name]))
  return (
    <div className="grid gap-5">
      {loadout && <Meter label="Tokens of definitions" used={loadout.tokens} limit={limits.maxTokens} />}
      <SwitchField
        label="Keep what the model finds"
        hint="Tools that it finds stay loaded for this thread."
        checked={settings.keepFound ?? true}
        onChange={(keepFound) => change.mutate({ settings: { ...thread.settings, keepFound } })}
      />
      <form onSubmit={onFormSubmit(form)} className="grid gap-4">
        {change.error && <ProblemNotice error={change.error} />}
        {FIELDS.map(({ name, label, hint }) => (
          <form.AppField key={name} name={name}>
            {(field) => (
              <field.TextField label={label} hint={hint} optional type="number" min={0} step={1} inputMode="numeric" />
            )}
          </form.AppField>
        ))}
        <Button
          type="submit"
          size="small"
          className="justify-self-start"
          aria-disabled={change.isPending || !isChanged}
        >
          {change.isPending ? 'Saving…' : 'Save limits'}
        </Button>
      </form>
    </div>
  )
}
