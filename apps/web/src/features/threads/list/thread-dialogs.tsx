import { useRef, useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { DialogForm } from '../../../ui/form/dialog-form.tsx'
import { Field } from '../../../ui/form/field.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { Dialog, DialogContent, DialogHeader } from '../../../ui/overlay/dialog.tsx'
import type { Thread } from '../queries.ts'
import { threadTitle, useChangeThread, useDeleteThread } from '../use-threads.ts'

interface ThreadDialogProps {
  thread: Thread
  onClose: () => void
  /** Restores the focus. */
  onClosed: () => void
}

export function RenameDialog({ thread, onClose, onClosed }: ThreadDialogProps) {
  const [title, setTitle] = useState(thread.title)
  const input = useRef<HTMLInputElement>(null)
  const change = useChangeThread(thread.id)
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={() => input.current?.select()} onClosed={onClosed} keepOpen={title !== thread.title}>
        <DialogHeader title="Rename thread" description="The title is for you; no model sees it." />
        <DialogForm
          submit="Save"
          busy={change.isPending && 'Saving…'}
          onSubmit={() => change.mutate({ title }, { onSuccess: onClose })}
          onCancel={onClose}
        >
          {change.error && <ProblemNotice error={change.error} />}
          <Field label="Title">
            {(control) => (
              <Input
                {...control}
                ref={input}
                value={title}
                maxLength={300}
                onChange={(event) => setTitle(event.target.value)}
              />
            )}
          </Field>
        </DialogForm>
      </DialogContent>
    </Dialog>
  )
}

export function DeleteThreadDialog({
  thread,
  onClose,
  onClosed,
  onDeleted = onClose,
}: ThreadDialogProps & { onDeleted?: () => void }) {
  const remove = useDeleteThread(onDeleted)
  return (
    <Confirm
      title={`Delete “${threadTitle(thread)}”?`}
      cancel="Keep it"
      confirm={remove.isPending ? 'Deleting…' : 'Delete thread'}
      busy={remove.isPending}
      onCancel={onClose}
      onConfirm={() => remove.mutate(thread)}
      onClosed={onClosed}
    >
      <p>What was said in it and what it switched go with it. This cannot be undone.</p>
      {remove.error && <ProblemNotice error={remove.error} />}
    </Confirm>
  )
}
