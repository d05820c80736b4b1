import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { toast } from 'sonner'
import { ProblemNotice } from '../../lib/problems.tsx'
import { useUserTheme } from '../../lib/theme.ts'
import { UnsavedDialog, useUnsaved } from '../../lib/unsaved.tsx'
import { Card } from '../../ui/data/card.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Segmented } from '../../ui/form/choice.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
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
  const [text, setText] = useState(value === undefined ? '' : String(value))
  const save = usePreferences()
  const number = text.trim() === '' ? undefined : Number(text)
  const leaving = useUnsaved(number !== value)
  const isValid = number === undefined || (Number.isInteger(number) && number >= 1 && number <= 1000)
  const error = isValid ? undefined : 'A whole number from 1 to 1,000, or empty for no limit.'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!error && number !== value)
      save.mutate({ maxServersPerThread: number ?? null }, { onSuccess: () => toast.success('Saved') })
  }
  return (
    <form noValidate onSubmit={submit} className="flex items-start gap-2">
      <Field
        label="Max servers per thread"
        hint="Empty: no limit. With a limit, a thread keeps the servers that match the prompt best and names the others."
        error={error}
        className="max-w-xs flex-1"
      >
        {(control) => (
          <Input
            {...control}
            type="number"
            min={1}
            max={1000}
            placeholder="No limit"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" className="mt-6.5" aria-disabled={number === value || save.isPending}>
        {save.isPending ? 'Saving…' : 'Save'}
      </Button>
      <UnsavedDialog leaving={leaving}>
        <p>The number of servers that you typed has not been saved.</p>
      </UnsavedDialog>
    </form>
  )
}
