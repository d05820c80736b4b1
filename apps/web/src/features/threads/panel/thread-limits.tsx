import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Meter } from '../../../ui/data/meter.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
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

/** Limits of the thread, which only narrow the user's limits. */
export function ThreadLimits({ thread }: { thread: Thread }) {
  const { data: loadout } = useQuery(loadoutQuery(thread.id))
  const change = useChangeThread(thread.id)
  const { limits, ...settings } = thread.settings
  const [draft, setDraft] = useState<Partial<Record<keyof Limits, string>>>({})
  const textOf = (name: keyof Limits) => draft[name] ?? limits[name]?.toString() ?? ''
  const isChanged = FIELDS.some(({ name }) => textOf(name) !== (limits[name]?.toString() ?? ''))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const entries = FIELDS.flatMap(({ name }) => (textOf(name) === '' ? [] : [[name, Number(textOf(name))]]))
    change.mutate({ settings: { ...settings, limits: Object.fromEntries(entries) } }, { onSuccess: () => setDraft({}) })
  }
  return (
    <div className="grid gap-5">
      {loadout && <Meter label="Tokens of definitions" used={loadout.tokens} limit={limits.maxTokens} />}
      <SwitchField
        label="Keep what the model finds"
        hint="Tools that it finds stay loaded for this thread."
        checked={settings.keepFound ?? true}
        onChange={(keepFound) => change.mutate({ settings: { ...thread.settings, keepFound } })}
      />
      <form onSubmit={submit} className="grid gap-4">
        {change.error && <ProblemNotice error={change.error} />}
        {FIELDS.map(({ name, label, hint }) => (
          <Field key={name} label={label} hint={hint} optional>
            {(control) => (
              <Input
                {...control}
                type="number"
                min={0}
                step={1}
                inputMode="numeric"
                value={textOf(name)}
                onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
              />
            )}
          </Field>
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
