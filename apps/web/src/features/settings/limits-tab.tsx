import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { toast } from 'sonner'
import { ProblemNotice } from '../../lib/problems.tsx'
import { UnsavedDialog, useUnsaved } from '../../lib/unsaved.tsx'
import { Card } from '../../ui/data/card.tsx'
import { formatAgo } from '../../ui/data/format-time.ts'
import { Meter } from '../../ui/data/meter.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
import { type Usage, usageQuery } from '../activity/queries.ts'
import { Loading, Section } from '../operator/section.tsx'
import { effectiveLimit } from './effective-limit.ts'
import { type Preferences, preferencesQuery } from './queries.ts'
import { usePreferences } from './use-preferences.ts'

type LimitName = keyof Preferences['costLimits']

const LIMITS: ReadonlyArray<{ name: LimitName; counter: keyof Usage; used: string; label: string; hint: string }> = [
  {
    name: 'maxCallsPerHour',
    counter: 'callsThisHour',
    used: 'Calls this hour',
    label: 'Most calls in an hour',
    hint: 'Further ones are refused until the next hour.',
  },
  {
    name: 'maxTokensPerDay',
    counter: 'tokensToday',
    used: 'Tokens today',
    label: 'Most tokens in a day',
    hint: 'Of results, and of what models of chats and agents read and write.',
  },
]

export function LimitsTab() {
  const { data: preferences, error } = useQuery(preferencesQuery())
  const { data: usage, error: usageError } = useQuery(usageQuery())
  if (error || usageError) return <ProblemNotice error={error ?? usageError} />
  if (!preferences || !usage) return <Loading label="Loading limits" />
  return (
    <>
      <Section title="Used so far">
        <Card className="grid gap-6 p-4 sm:grid-cols-2 sm:p-5">
          {LIMITS.map(({ name, counter, used }) => (
            <Meter key={name} label={used} used={usage[counter].used} limit={usage[counter].limit}>
              Resets {formatAgo(new Date(usage[counter].resetsAt), new Date())}.
            </Meter>
          ))}
        </Card>
      </Section>
      <OwnLimits key={JSON.stringify(preferences.costLimits)} preferences={preferences} usage={usage} />
    </>
  )
}

function OwnLimits({ preferences: { costLimits }, usage }: { preferences: Preferences; usage: Usage }) {
  const [texts, setTexts] = useState<Record<LimitName, string>>({
    maxCallsPerHour: costLimits.maxCallsPerHour?.toString() ?? '',
    maxTokensPerDay: costLimits.maxTokensPerDay?.toString() ?? '',
  })
  const save = usePreferences()
  const problemOfText = (text: string) =>
    /^\d{0,12}$/.test(text) ? undefined : 'A whole number, or nothing for no limit.'
  const isChanged = LIMITS.some(({ name }) => texts[name] !== (costLimits[name]?.toString() ?? ''))
  const leaving = useUnsaved(isChanged)
  const isWrong = LIMITS.some(({ name }) => problemOfText(texts[name]))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isWrong || !isChanged || save.isPending) return
    const limitOf = (name: LimitName) => (texts[name] === '' ? null : Number(texts[name]))
    const limits = { maxCallsPerHour: limitOf('maxCallsPerHour'), maxTokensPerDay: limitOf('maxTokensPerDay') }
    save.mutate({ costLimits: limits }, { onSuccess: () => toast.success('Limits saved') })
  }
  return (
    <Section title="Your own limits" note="They may be tighter than the operator’s, never wider.">
      <form noValidate onSubmit={submit} className="grid gap-5 rounded-2xl border bg-surface p-4 shadow-flat sm:p-5">
        <div className="grid gap-5 sm:grid-cols-2">
          {LIMITS.map(({ name, counter, label, hint }) => {
            const cap = effectiveLimit(costLimits[name], usage[counter].limit)
            return (
              <Field
                key={name}
                optional
                label={label}
                hint={cap === undefined ? hint : `${hint} The operator allows ${cap.toLocaleString('en')} at most.`}
                error={problemOfText(texts[name])}
              >
                {(control) => (
                  <Input
                    {...control}
                    inputMode="numeric"
                    placeholder="No limit of your own"
                    value={texts[name]}
                    onChange={(event) => setTexts({ ...texts, [name]: event.target.value.trim() })}
                  />
                )}
              </Field>
            )
          })}
        </div>
        <Button type="submit" variant="primary" className="justify-self-start" aria-disabled={!isChanged || isWrong}>
          {save.isPending ? 'Saving…' : 'Save limits'}
        </Button>
      </form>
      <UnsavedDialog leaving={leaving}>
        <p>The limits that you typed have not been saved.</p>
      </UnsavedDialog>
    </Section>
  )
}
