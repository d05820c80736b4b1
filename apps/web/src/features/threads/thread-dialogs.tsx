import { type FormEvent, useRef, useState } from 'react'
import { Confirm } from '../../ui/alert-dialog.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent, DialogFooter, DialogHeader } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import type { Thread } from './queries.ts'
import { titleOf, useChangeThread, useDeleteThread } from './use-threads.ts'

interface ThreadDialogProps {
  thread: Thread
  onClose: () => void
  /** Puts the focus where it belongs afterwards. */
  onClosed: () => void
}

export function RenameDialog({ thread, onClose, onClosed }: ThreadDialogProps) {
  const [title, setTitle] = useState(thread.title)
  const input = useRef<HTMLInputElement>(null)
  const change = useChangeThread(thread.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!change.isPending) change.mutate({ title }, { onSuccess: onClose })
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent onOpened={() => input.current?.select()} onClosed={onClosed} keepOpen={title !== thread.title}>
        <DialogHeader title="Rename thread" description="The title is for you; no model sees it." />
        <form onSubmit={submit} className="flex min-h-0 flex-1 flex-col">
          <div className="grid flex-1 content-start gap-5 px-4 py-5 sm:px-6">
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
          </div>
          <DialogFooter>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" aria-disabled={change.isPending}>
              {change.isPending ? 'Saving…' : 'Save'}
            </Button>
          </DialogFooter>
        </form>
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
      title={`Delete “${titleOf(thread)}”?`}
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
