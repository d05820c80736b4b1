import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { EditConflict } from '../../../lib/external-change.tsx'
import { fieldError, setFields } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import type { Draft } from '../form/draft.ts'
import { ToolkitFields } from '../form/toolkit-form.tsx'
import { useToolkitForm } from '../form/use-toolkit-form.ts'
import { ConnectFailure, ConnectProgress } from './connect-outcome.tsx'
import { CustomTab } from './custom-tab.tsx'
import type { AddMode } from './dialog-search.ts'
import { PasteTab } from './paste-tab.tsx'
import { SourceTabs } from './source-tabs.tsx'
import { usePaste } from './use-paste.ts'

interface ToolkitDialogProps {
  initial: Draft
  /** Initial tab. */
  mode: AddMode
  /** Called when the tab changes. */
  onMode?: ((mode: AddMode) => void) | undefined
  /** Config text to preview. */
  pasted?: string | undefined
  /** The edited toolkit; undefined to add one. */
  toolkit?: Toolkit | undefined
  /** Whether the edited toolkit was deleted elsewhere. */
  isGone?: boolean
  others: readonly Toolkit[]
  onClose: () => void
  onClosed: () => void
  /** Called after the import. */
  onImported?: (() => void) | undefined
}

/** Add/edit dialog. Input survives switching between tabs. */
export function ToolkitDialog(props: ToolkitDialogProps) {
  const { initial, toolkit, others, onClose, onClosed, onImported } = props
  const [mode, setMode] = useState(props.mode)
  const goTo = (next: AddMode) => {
    setMode(next)
    props.onMode?.(next)
  }
  const done = useRef(false)
  const close = () => {
    done.current = true
    onClose()
  }
  const work = useToolkitForm({ initial, toolkit, others, onSaved: close })
  const [initialText] = useState(props.pasted ?? '')
  const paste = usePaste(initialText, () => {
    onImported?.()
    close()
  })
  const { form, element, isChanged } = work
  // Escape, Cancel, Back and closing the tab ask first if input would be lost. A running save loses nothing.
  const isSent = work.isSaving || paste.save.isPending
  const wouldLose = () => (isChanged || paste.isChanged) && !isSent && !done.current
  const leaving = useBlocker({
    // Another tab of the same dialog does not leave it.
    shouldBlockFn: ({ next }) => wouldLose() && (toolkit !== undefined || !isAdding(next)),
    enableBeforeUnload: wouldLose,
    withResolver: true,
  })
  const focusFirst = () => element.current?.querySelector<HTMLElement>('[data-first]')?.focus()
  const choose = (next: AddMode) => {
    goTo(next)
    if (next === 'stdio' || next === 'http') form.setFieldValue('type', next)
  }
  const take = (changes: Partial<Draft>) => {
    goTo(changes.type === 'stdio' ? 'stdio' : 'http')
    setFields(form, changes)
    paste.clear()
  }
  const tabs = (
    <form.Field name="type">
      {({ state }) => (
        <SourceTabs
          mode={mode}
          edits={work.stored !== undefined}
          rules={work.rules}
          error={fieldError(state.meta.errors, 'Transport')}
          onChoose={choose}
        />
      )}
    </form.Field>
  )
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={toolkit ? undefined : focusFirst} onClosed={onClosed} keepOpen={wouldLose()}>
        <DialogHeader {...headerFor(toolkit)} />
        {props.isGone && (
          <p role="alert" className="border-b bg-bad-soft px-4 py-2.5 text-sm sm:px-6">
            <span className="font-medium text-bad">This server was deleted elsewhere.</span> What you typed cannot be
            saved to it: copy what you want to keep, and add it anew.
          </p>
        )}
        {mode === 'paste' && <PasteTab paste={paste} tabs={tabs} onTake={take} onClose={onClose} />}
        {mode === 'custom' && <CustomTab tabs={tabs} onClose={onClose} />}
        {(mode === 'stdio' || mode === 'http') && <FormBody work={work} tabs={tabs} onClose={onClose} />}
        {leaving.status === 'blocked' && (
          <Confirm
            title="Discard what you entered?"
            cancel="Keep editing"
            confirm="Discard"
            onCancel={leaving.reset}
            onConfirm={leaving.proceed}
            onClosed={focusFirst}
          >
            <p>{work.stored ? 'Your last changes are not saved.' : 'Nothing of it has been saved.'}</p>
          </Confirm>
        )}
      </DialogContent>
    </Dialog>
  )
}

interface FormBodyProps {
  work: ReturnType<typeof useToolkitForm>
  tabs: ReactNode
  onClose: () => void
}

function FormBody({ work, tabs, onClose }: FormBodyProps) {
  const { form, element, isSaving, problem, isPlaced, stored, failed, submit } = work
  const submitLabel = failed ? 'Save and try again' : stored ? 'Save changes' : 'Add server'
  return (
    <form ref={element} noValidate onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
      <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
        {work.elsewhere && <EditConflict noun="server" {...work.elsewhere} />}
        {problem && <ProblemNotice error={problem} folded={isPlaced} />}
        {failed && stored && <ConnectFailure toolkit={stored} />}
        {tabs}
        <ToolkitFields form={form} rules={work.rules} />
      </div>
      <DialogFooter>
        {isSaving && <ConnectProgress />}
        {work.stop ? (
          <Button aria-disabled={work.isStopping} onClick={work.stop}>
            {work.isStopping ? 'Stopping…' : 'Stop and remove'}
          </Button>
        ) : (
          <Button title={isSaving ? 'It goes on, and the list shows how' : undefined} onClick={onClose}>
            {failed || isSaving ? 'Close' : 'Cancel'}
          </Button>
        )}
        <Button type="submit" variant="primary" aria-disabled={isSaving}>
          {isSaving ? 'Connecting…' : submitLabel}
        </Button>
      </DialogFooter>
    </form>
  )
}

const isAdding = ({ pathname, search }: { pathname: string; search: object }) =>
  pathname === '/connectors' && 'add' in search

const headerFor = (toolkit: Toolkit | undefined) =>
  toolkit
    ? { title: `Edit ${toolkit.name}`, description: `Its id, ${toolkit.id}, stays as it is.` }
    : { title: 'Add a server', description: 'It becomes a toolkit that only you can use.' }
