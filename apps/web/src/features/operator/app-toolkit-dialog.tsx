import { useBlocker } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { problemOf } from '../../api.ts'
import { Confirm } from '../../ui/alert-dialog.tsx'
import { Segmented } from '../../ui/choice.tsx'
import { Dialog, DialogContent, DialogHeader } from '../../ui/dialog.tsx'
import { DialogForm, focusFirstField } from '../../ui/dialog-form.tsx'
import { Switch } from '../../ui/switch.tsx'
import { JsonText } from '../schema-form/json-text.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { bodyOf, type Draft, draftOf, emptyDraft } from '../toolkits/draft.ts'
import { type FieldErrors, findMistakes, isPlaced, placeErrors, withoutErrorsOf } from '../toolkits/field-errors.ts'
import { ToolkitFields } from '../toolkits/toolkit-form.tsx'
import type { AppToolkit } from './queries.ts'
import { useSaveAppToolkit } from './use-app.ts'

interface AppToolkitDialogProps {
  toolkit: AppToolkit | undefined
  others: readonly AppToolkit[]
  onClose: () => void
  onClosed: () => void
}

type Way = 'stdio' | 'http' | 'json'
const WAYS = [
  { value: 'stdio', label: 'Command' },
  { value: 'http', label: 'URL' },
  { value: 'json', label: 'JSON' },
] as const

/** The record as JSON: for custom toolkits, and for what the fields do not show. */
const START = { name: '', tools: [] }

export function AppToolkitDialog({ toolkit, others, onClose, onClosed }: AppToolkitDialogProps) {
  const work = useAppToolkitForm({ toolkit, others, onClose })
  const leaving = useBlocker({ shouldBlockFn: work.wouldLose, enableBeforeUnload: work.wouldLose, withResolver: true })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={focusFirstField} onClosed={onClosed} keepOpen={work.wouldLose()}>
        <DialogHeader
          title={toolkit ? `Edit ${toolkit.name}` : 'Add a global server'}
          description={toolkit ? `Its id, ${toolkit.id}, stays as it is.` : 'Every user has it at once.'}
        />
        <DialogForm
          submit={toolkit ? 'Save changes' : 'Add global server'}
          busy={work.save.isPending && 'Connecting…'}
          onSubmit={work.submit}
          onCancel={onClose}
        >
          {work.save.error && (
            <ProblemNotice
              error={work.save.error}
              folded={work.way !== 'json' && isPlaced(problemOf(work.save.error).errors)}
            />
          )}
          <Segmented label="How it is described" value={work.way} options={work.ways} onChange={work.choose} />
          {work.way === 'json' ? (
            <JsonText
              label="Record of the server"
              value={work.record}
              onChange={work.setRecord}
              lines={12}
              problems={work.recordProblems}
            />
          ) : (
            <ToolkitFields form={{ draft: work.draft, errors: work.errors, change: work.change }} />
          )}
          <Shared isShared={work.isShared} onChange={work.setShared} />
        </DialogForm>
        {leaving.status === 'blocked' && (
          <Confirm
            title="Discard what you entered?"
            cancel="Keep editing"
            confirm="Discard"
            onCancel={leaving.reset}
            onConfirm={leaving.proceed}
            onClosed={() => {}}
          >
            <p>Nothing of it has been saved.</p>
          </Confirm>
        )}
      </DialogContent>
    </Dialog>
  )
}

function useAppToolkitForm({
  toolkit,
  others,
  onClose,
}: Pick<AppToolkitDialogProps, 'toolkit' | 'others' | 'onClose'>) {
  const initial = toolkit ? draftOf(toolkit) : emptyDraft('stdio')
  const [way, setWay] = useState<Way>(wayOf(toolkit))
  const [draft, setDraft] = useState<Draft>(initial)
  const [record, setRecord] = useState<unknown>(toolkit ? recordOf(toolkit) : START)
  const [isShared, setShared] = useState(toolkit?.options.shared ?? false)
  const [errors, setErrors] = useState<FieldErrors>({})
  const save = useSaveAppToolkit(toolkit)
  const done = useRef(false)
  const begun = useRef(JSON.stringify([bodyOf(initial), record, isShared]))
  const body = () => ({ ...(way === 'json' ? (record as object) : bodyOf(draft)), shared: isShared })
  const submit = () => {
    const mistakes = way === 'json' ? {} : findMistakes(draft, others)
    setErrors(mistakes)
    if (Object.keys(mistakes).length > 0) return
    save.mutate(body() as never, {
      onSuccess: () => {
        done.current = true
        onClose()
      },
      onError: (error) => setErrors(placeErrors(problemOf(error).errors, draft)),
    })
  }
  return {
    ...{ way, draft, record, setRecord, isShared, setShared, errors, save, submit },
    // What it is stays what it is: a custom toolkit has no command.
    ways: toolkit ? WAYS.filter(({ value }) => value === wayOf(toolkit) || value === 'json') : WAYS,
    choose: (next: Way) => {
      setWay(next)
      if (next !== 'json') setDraft((old) => ({ ...old, type: next }))
    },
    change: (changes: Partial<Draft>) => {
      setDraft((old) => ({ ...old, ...changes }))
      setErrors((old) => withoutErrorsOf(old, Object.keys(changes)))
    },
    recordProblems: save.error ? (problemOf(save.error).errors ?? []) : [],
    wouldLose: () => !done.current && JSON.stringify([bodyOf(draft), record, isShared]) !== begun.current,
  }
}

function wayOf(toolkit: AppToolkit | undefined): Way {
  if (!toolkit || toolkit.server.type === 'stdio') return 'stdio'
  return toolkit.server.type === 'custom' ? 'json' : 'http'
}

const recordOf = ({ name, server }: AppToolkit) => ({ name, server })

function Shared({ isShared, onChange }: { isShared: boolean; onChange: (isShared: boolean) => void }) {
  return (
    <div className="flex items-start justify-between gap-4 rounded-lg border p-3.5">
      <div className="grid gap-0.5 text-sm">
        <span className="font-medium">One connection for all users</span>
        <span id="shared-note" className="text-ink-muted">
          Only where the server keeps nothing of any user. Otherwise each user has a connection of their own.
        </span>
      </div>
      <Switch
        aria-label="One connection for all users"
        aria-describedby="shared-note"
        checked={isShared}
        onCheckedChange={onChange}
      />
    </div>
  )
}
