import { useStore } from '@tanstack/react-form'
import { useQuery } from '@tanstack/react-query'
import { toast } from 'sonner'
import { onFormSubmit, useAppForm } from '../../lib/form.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { useUserTheme } from '../../lib/theme.ts'
import { UnsavedDialog, useUnsaved } from '../../lib/unsaved.tsx'
import { Card } from '../../ui/data/card.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Segmented } from '../../ui/form/choice.tsx'
import { SwitchField } from '../../ui/form/switch-field.tsx'
import { Loading, Section } from '../operator/section.tsx'
import { type Preferences, preferencesQuery } from './queries.ts'
import { usePreferences } from './use-preferences.ts'

export function GeneralTab() {
  const { data, error } = useQuery(preferencesQuery())
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading preferences" />
  return (
    <>
      <ThemeSection />
      <ToolsSection preferences={data} />
    </>
  )
}

const THEMES = [
  { value: 'light', label: 'Light' },
  { value: 'system', label: 'As the system' },
  { value: 'dark', label: 'Dark' },
] as const

function ThemeSection() {
  const [theme, choose] = useUserTheme()
  return (
    <Section title="Theme" note="It goes with you to every browser that you sign in with.">
      <div>
        <Segmented label="Theme of the pages" value={theme} options={THEMES} onChange={choose} />
      </div>
    </Section>
  )
}

function ToolsSection({ preferences }: { preferences: Preferences }) {
  const save = usePreferences()
  return (
    <Section title="Tools" note="How tools come to your threads and agents.">
      <Card className="grid gap-5 p-4 sm:p-5">
        <SwitchField
          label="Choose tools for each prompt"
          hint="The search picks those that fit; the model finds more when it needs them. Off: all that a thread carries is sent."
          checked={preferences.autoLoadTools}
          onChange={(autoLoadTools) => save.mutate({ autoLoadTools })}
        />
        <SwitchField
          label="Learn from use"
          hint="What you asked for when a call worked helps later searches, for you alone. Switching it off forgets what was learned."
          checked={preferences.learnFromUse}
          onChange={(learnFromUse) => save.mutate({ learnFromUse })}
        />
        <ServersPerThread value={preferences.maxServersPerThread} />
      </Card>
    </Section>
  )
}

function ServersPerThread({ value }: { value: number | undefined }) {
  const save = usePreferences()
  const form = useAppForm({
    defaultValues: { text: value === undefined ? '' : String(value) },
    onSubmit: async ({ value: { text } }) => {
      if (numberIn(text) === value) return
      await save.mutateAsync({ maxServersPerThread: numberIn(text) ?? null })
      toast.success('Saved')
    },
  })
  const number = useStore(form.store, ({ values }) => numberIn(values.text))
  const leaving = useUnsaved(number !== value)
  return (
    <form noValidate onSubmit={onFormSubmit(form)} className="flex items-start gap-2">
      <form.AppField name="text" validators={{ onChange: ({ value: text }) => limitError(numberIn(text)) }}>
        {(field) => (
          <field.TextField
            label="Max servers per thread"
            hint="Empty: no limit. With a limit, a thread keeps the servers that match the prompt best and names the others."
            fieldClassName="max-w-xs flex-1"
            type="number"
            min={1}
            max={1000}
            placeholder="No limit"
          />
        )}
      </form.AppField>
      <Button type="submit" className="mt-6.5" aria-disabled={number === value || save.isPending}>
        {save.isPending ? 'Saving…' : 'Save'}
      </Button>
      <UnsavedDialog leaving={leaving}>
        <p>The number of servers that you typed has not been saved.</p>
      </UnsavedDialog>
    </form>
  )
}

const numberIn = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text))

const limitError = (number: number | undefined): string | undefined =>
  number === undefined || (Number.isInteger(number) && number >= 1 && number <= 1000)
    ? undefined
    : 'A whole number from 1 to 1,000, or empty for no limit.'
