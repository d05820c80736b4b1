import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, Download, ShieldCheck } from 'lucide-react'
import { answer, client, ProblemError } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { Button } from '../../../ui/form/button.tsx'
import { startSettingsQuery } from '../queries.ts'
import { Section } from '../section.tsx'
import { formatBackup } from './format-backup.ts'
import { StartSettingsList } from './start-settings.tsx'

export function UpkeepTab() {
  return (
    <>
      <StartSettingsList />
      <Verify />
      <Backup />
    </>
  )
}

function Verify() {
  const verify = useMutation({ mutationFn: () => answer(client.api.app.audit.verify.$get()) })
  const { data, error, isPending } = verify
  return (
    <Section
      title="The audit log"
      note="Each line holds the hash of the one before it. A check reads all of them, and says where one was changed or is missing."
    >
      <p>
        <Button aria-disabled={isPending} onClick={() => !isPending && verify.mutate()}>
          <ShieldCheck aria-hidden /> {isPending ? 'Checking the log…' : 'Check the log'}
        </Button>
      </p>
      {error && <ProblemNotice error={error} />}
      {data && (
        <p
          role="status"
          className={`flex items-start gap-2.5 rounded-xl px-3.5 py-2.5 text-sm ${data.ok ? 'bg-good-soft text-good' : 'bg-bad-soft text-bad'}`}
        >
          {data.ok ? (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
          ) : (
            <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
          )}
          <span className="wrap-anywhere">
            {data.ok
              ? `The log is whole: ${counted(data.rows, 'line')}.`
              : `The log is broken at ${data.auditId ?? 'an unknown line'}: ${data.reason ?? 'it does not fit the line before it'}.`}
          </span>
        </p>
      )}
    </Section>
  )
}

function Backup() {
  const backup = useMutation({ mutationFn: download })
  const { data: settings } = useQuery(startSettingsQuery())
  if (!settings) return null
  const { isHere, note } = formatBackup(settings.storage)
  return (
    <Section title="Backup" note={note}>
      {isHere && (
        <p>
          <Button aria-disabled={backup.isPending} onClick={() => !backup.isPending && backup.mutate()}>
            <Download aria-hidden /> {backup.isPending ? 'Making the copy…' : 'Download a backup'}
          </Button>
        </p>
      )}
      {backup.error && <ProblemNotice error={backup.error} />}
    </Section>
  )
}

async function download(): Promise<void> {
  const response = await client.api.app.backup.$get()
  if (!response.ok) throw new ProblemError((await response.json()) as never)
  const address = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = address
  link.download = `loadout-${new Date().toISOString().slice(0, 10)}.tar.gz`
  link.click()
  URL.revokeObjectURL(address)
}
