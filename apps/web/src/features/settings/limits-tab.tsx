import { useStore } from '@tanstack/react-form'
import { useQuery } from '@tanstack/react-query'
import { toast } from 'sonner'
import { onFormSubmit, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { UnsavedDialog, useUnsaved } from '../../lib/unsaved.tsx'
import { Card } from '../../ui/data/card.tsx'
import { formatAgo } from '../../ui/data/format-time.ts'
import { Meter } from '../../ui/data/meter.tsx'
import { Button } from '../../ui/form/button.tsx'
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
  const save = usePreferences()
  const form = useAppForm({
    defaultValues: {
      maxCallsPerHour: costLimits.maxCallsPerHour?.toString() ?? '',
      maxTokensPerDay: costLimits.maxTokensPerDay?.toString() ?? '',
    },
    onSubmit: async ({ value, formApi }) => {
      if (formApi.state.isDefaultValue) return
      const limitOf = (name: LimitName) => (value[name].trim() === '' ? null : Number(value[name]))
      const limits = { maxCallsPerHour: limitOf('maxCallsPerHour'), maxTokensPerDay: limitOf('maxTokensPerDay') }
      await save.mutateAsync({ costLimits: limits })
      toast.success('Limits saved')
    },
  })
  const isChanged = useStore(form.store, (state) => !state.isDefaultValue)
  const isWrong = useStore(form.store, (state) => !state.isFieldsValid)
  const leaving = useUnsaved(isChanged)
  return (
    <Section title="Your own limits" note="They may be tighter than the operator’s, never wider.">
      <form
        noValidate
        onSubmit={onFormSubmit(form)}
        className="grid gap-5 rounded-2xl border bg-surface p-4 shadow-flat sm:p-5"
      >
        <div className="grid gap-5 sm:grid-cols-2">
          {LIMITS.map(({ name, counter, label, hint }) => {
            const cap = effectiveLimit(costLimits[name], usage[counter].limit)
            return (
              <form.AppField key={name} name={name} validators={{ onChange: ({ value }) => limitError(value) }}>
                {(field) => (
                  <field.TextField
                    optional
                    label={label}
                    hint={cap === undefined ? hint : `${hint} The operator allows ${cap.toLocaleString('en')} at most.`}
                    inputMode="numeric"
                    placeholder="No limit of your own"
                  />
                )}
              </form.AppField>
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

const limitError = (text: string): string | undefined =>
  /^\d{0,12}$/.test(text.trim()) ? undefined : 'A whole number, or nothing for no limit.'
