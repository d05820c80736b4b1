import type { ReactNode, SubmitEvent } from 'react'
import { DialogFooter } from '../overlay/dialog.tsx'
import { Button } from './button.tsx'

interface DialogFormProps {
  submit: string
  /** What the button says while it is being done; nothing is sent twice meanwhile. */
  busy: string | false
  onSubmit: () => void
  onCancel: () => void
  children: ReactNode
}

/** What is filled in within a dialog: the fields scroll, the buttons stay. */
export function DialogForm({ submit, busy, onSubmit, onCancel, children }: DialogFormProps) {
  const send = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy === false) onSubmit()
  }
  return (
    <form noValidate onSubmit={send} className="flex min-h-0 flex-1 flex-col">
      <div className="grid min-h-0 flex-1 content-start gap-5 overflow-y-auto px-4 py-5 sm:px-6">{children}</div>
      <DialogFooter>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" aria-disabled={busy !== false}>
          {busy === false ? submit : busy}
        </Button>
      </DialogFooter>
    </form>
  )
}

/** For `onOpened`: who opens a form begins to fill it in, and not to close it. */
export const focusFirstField = (): void =>
  document.querySelector<HTMLElement>('[role=dialog] form :is(input:not([type=radio]), textarea, select)')?.focus()
