import { Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeft, CircleAlert, CircleCheck, LoaderCircle } from 'lucide-react'
import { useState } from 'react'
import type { Toolkit } from '../../lib/api.ts'
import { EditConflict } from '../../lib/external-change.tsx'
import { ProblemNotice } from '../../lib/problems.tsx'
import { useUnsaved } from '../../lib/unsaved.tsx'
import { counted } from '../../ui/data/format-time.ts'
import { Button } from '../../ui/form/button.tsx'
import { Segmented } from '../../ui/form/choice.tsx'
import { Field } from '../../ui/form/field.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Confirm } from '../../ui/overlay/alert-dialog.tsx'
import { CodeHints } from './code-hints.tsx'
import { RecordText } from './json-editor.tsx'
import { RecordForm } from './record-form.tsx'
import { TryPanel } from './test-panel.tsx'
import { type RecordState, useRecord } from './use-record.ts'

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const

/** Editor of a custom toolkit as a form or JSON, with test runs before saving. */
export function CustomEditor({ toolkit }: { toolkit: Toolkit | undefined }) {
  const navigate = useNavigate()
  const [view, setView] = useState<'form' | 'json'>('form')
  const [tool, setTool] = useState(0)
  const state = useRecord(toolkit, (id) => {
    // A new toolkit gets its URL with the first save.
    if (!toolkit) void navigate({ to: '/connectors/custom/$id', params: { id }, replace: true, ignoreBlocker: true })
  })
  const [isNameRequired, setNameRequired] = useState(false)
  const askName = () => {
    setNameRequired(true)
    document.querySelector<HTMLElement>('[data-custom-name]')?.focus()
  }
  const leaving = useUnsaved(state.isChanged)
  const activeView = state.record ? view : 'json'
  const hasToolProblems = state.record === undefined || state.problems.length > 0
  return (
    <Page
      wide
      title={toolkit ? toolkit.name : 'New custom toolkit'}
      description="Tools of your own: what each takes, and the code that runs. Nobody else sees them."
      actions={<Actions state={state} isNew={toolkit === undefined} onNameless={askName} />}
    >
      <p className="-mt-4 text-sm">
        <Link
          to="/connectors"
          className="inline-flex min-h-6 items-center gap-1.5 rounded-md text-ink-muted hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-4" /> MCP servers
        </Link>
      </p>
      {state.elsewhere && <EditConflict noun="toolkit" {...state.elsewhere} />}
      {state.save.error && !state.elsewhere && (
        <ProblemNotice error={state.save.error} folded={state.problems.length > 0} />
      )}
      <div className="grid items-start gap-8 xl:grid-cols-[minmax(0,1fr)_26rem]">
        <div className="grid min-w-0 gap-5">
          <div className="flex flex-wrap items-end justify-between gap-4">
            <NameField state={state} isRequired={isNameRequired} />
            <Segmented
              label="View"
              value={activeView}
              options={VIEWS}
              onChange={(next) => setView(state.record ? next : 'json')}
            />
          </div>
          {activeView === 'form' && state.record ? (
            <RecordForm key={state.revision} record={state.record} state={state} tool={tool} onTool={setTool} />
          ) : (
            <RecordText state={state} />
          )}
        </div>
        <aside aria-label="Try and help" className="grid min-w-0 gap-5">
          <TryPanel
            name={state.name}
            record={state.record}
            uscoId={toolkit?.uscoId}
            isBroken={hasToolProblems}
            selected={tool}
            onSelect={setTool}
          />
          <CodeHints />
        </aside>
      </div>
      {leaving.status === 'blocked' && (
        <Confirm
          title="Leave without saving?"
          cancel="Stay here"
          confirm="Leave"
          onCancel={leaving.reset}
          onConfirm={leaving.proceed}
          onClosed={() => document.getElementById('save-custom')?.focus()}
        >
          <p>What you changed since the last save is lost.</p>
        </Confirm>
      )}
    </Page>
  )
}

function NameField({ state, isRequired }: { state: RecordState; isRequired: boolean }) {
  const [touched, setTouched] = useState(false)
  const isMissing = (touched || isRequired) && state.name.trim() === ''
  const problem = state.problems.find(({ path }) => path === 'name' || path === 'id')
  return (
    <Field
      label="Name"
      className="min-w-56 flex-1"
      error={isMissing ? 'Name must not be empty.' : problem && `Name ${problem.message}.`}
    >
      {(control) => (
        <Input
          {...control}
          data-custom-name
          value={state.name}
          placeholder="Prices"
          onBlur={() => setTouched(true)}
          onChange={(event) => state.setName(event.target.value)}
        />
      )}
    </Field>
  )
}

interface ActionsProps {
  state: RecordState
  isNew: boolean
  /** Called if the name is empty. */
  onNameless: () => void
}

function Actions({ state, isNew, onNameless }: ActionsProps) {
  const { save, name, text } = state
  const canSave = state.value !== undefined && !save.isPending && !state.elsewhere
  const trySave = () => (name.trim() === '' ? onNameless() : save.mutate({ name, text }))
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Checked state={state} />
      <Button
        id="save-custom"
        variant="primary"
        disabled={!state.isChanged && !isNew}
        aria-disabled={!canSave}
        onClick={() => canSave && trySave()}
      >
        {save.isPending ? 'Saving…' : 'Save toolkit'}
      </Button>
    </div>
  )
}

/** Result of the last server-side check. */
function Checked({ state }: { state: RecordState }) {
  const { value, problems, isChecked } = state
  const style = (icon: typeof CircleCheck, label: string, className: string) => ({ icon, label, className })
  const status =
    value === undefined
      ? style(CircleAlert, 'Not valid JSON', 'text-bad')
      : problems.length > 0
        ? style(CircleAlert, `${counted(problems.length, 'problem')}`, 'text-bad')
        : isChecked
          ? style(CircleCheck, 'Valid', 'text-good')
          : style(LoaderCircle, 'Checking…', 'text-ink-muted')
  const Icon = status.icon
  return (
    <span role="status" className={`flex items-center gap-1.5 text-sm font-medium ${status.className}`}>
      <Icon aria-hidden className={`size-4 ${status.icon === LoaderCircle ? 'motion-safe:animate-spin' : ''}`} />
      {status.label}
    </span>
  )
}
