import { useBlocker } from '@tanstack/react-router'
import { useRef } from 'react'
import type { Toolkit } from '../../api.ts'
import { Confirm } from '../../ui/alert-dialog.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../ui/dialog.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import type { Draft } from './draft.ts'
import { ToolkitFields } from './toolkit-form.tsx'
import { useToolkitForm } from './use-toolkit-form.ts'

interface ToolkitDialogProps {
  initial: Draft
  /** The one that is edited; without it one is added. */
  toolkit?: Toolkit | undefined
  others: readonly Toolkit[]
  onClose: () => void
  onClosed: () => void
}

export function ToolkitDialog({ initial, toolkit, others, onClose, onClosed }: ToolkitDialogProps) {
  const saved = useRef(false)
  const { form, element, isChanged, isSaving, problem, isPlaced, submit } = useToolkitForm({
    initial,
    toolkit,
    others,
    onSaved: () => {
      saved.current = true
      onClose()
    },
  })
  // Escape, Cancel, Back and a closed tab are all ways to lose what was typed; each asks first.
  const wouldLose = () => isChanged && !saved.current
  const leaving = useBlocker({ shouldBlockFn: wouldLose, enableBeforeUnload: wouldLose, withResolver: true })
  const focusFirst = () => element.current?.querySelector('input')?.focus()
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={toolkit ? undefined : focusFirst} onClosed={onClosed} keepOpen={isChanged}>
        <DialogHeader {...wordsFor(toolkit)} />
        <form ref={element} noValidate onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
          <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">
            {problem && <ProblemNotice error={problem} folded={isPlaced} />}
            <ToolkitFields form={form} />
          </div>
          <DialogFooter>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" aria-disabled={isSaving}>
              {isSaving ? 'Saving…' : toolkit ? 'Save changes' : 'Add server'}
            </Button>
          </DialogFooter>
        </form>
        {leaving.status === 'blocked' && (
          <Confirm
            title="Discard what you entered?"
            cancel="Keep editing"
            confirm="Discard"
            onCancel={leaving.reset}
            onConfirm={leaving.proceed}
            onClosed={focusFirst}
          >
            <p>Nothing of it has been saved.</p>
          </Confirm>
        )}
      </DialogContent>
    </Dialog>
  )
}

const wordsFor = (toolkit: Toolkit | undefined) =>
  toolkit
    ? { title: `Edit ${toolkit.name}`, description: `Its id, ${toolkit.id}, stays as it is.` }
    : { title: 'Add a server', description: 'It becomes a toolkit that only you can use.' }
