import { useStore } from '@tanstack/react-form'
import { useRef } from 'react'
import { submitForm, useAppForm } from '../../../lib/form.tsx'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { DialogForm } from '../../../ui/form/dialog-form.tsx'
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
  const input = useRef<HTMLInputElement>(null)
  const change = useChangeThread(thread.id)
  const form = useAppForm({
    defaultValues: { title: thread.title },
    onSubmit: async ({ value }) => {
      await change.mutateAsync(value)
      onClose()
    },
  })
  const isChanged = useStore(form.store, ({ values }) => values.title !== thread.title)
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={() => input.current?.select()} onClosed={onClosed} keepOpen={isChanged}>
        <DialogHeader title="Rename thread" description="The title is for you; no model sees it." />
        <DialogForm
          submit="Save"
          busy={change.isPending && 'Saving…'}
          onSubmit={() => submitForm(form)}
          onCancel={onClose}
        >
          {change.error && <ProblemNotice error={change.error} />}
          <form.AppField name="title">
            {(field) => <field.TextField label="Title" ref={input} maxLength={300} />}
          </form.AppField>
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
