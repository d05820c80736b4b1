import type { ReactNode, SubmitEvent } from 'react'
import { DialogFooter } from '../overlay/dialog.tsx'
import { Button } from './button.tsx'

interface DialogFormProps {
  submit: string
  /** Button label while the form is submitted; submitting again is disabled. */
  busy: string | false
  onSubmit: () => void
  onCancel: () => void
  children: ReactNode
}

/** Form inside a dialog: fields scroll, buttons stay. */
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

/** For `onOpened`: focuses the first field instead of the close button. */
export const focusFirstField = (): void =>
  document.querySelector<HTMLElement>('[role=dialog] form :is(input:not([type=radio]), textarea, select)')?.focus()
