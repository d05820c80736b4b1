import { AlertDialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from '../form/button.tsx'

interface ConfirmProps {
  title: string
  children: ReactNode
  cancel: string
  confirm: string
  busy?: boolean
  onCancel: () => void
  onConfirm: () => void
  /** Restores the focus. */
  onClosed: () => void
}

/** Confirmation of a destructive action. Cancel has the focus, and Escape cancels. */
export function Confirm({ title, children, cancel, confirm, busy = false, ...on }: ConfirmProps) {
  return (
    <Primitive.Root open onOpenChange={(next) => !next && !busy && on.onCancel()}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-50 animate-fade-in bg-backdrop" />
        <Primitive.Content
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            on.onClosed()
          }}
          className="fixed inset-x-4 top-1/2 z-50 mx-auto grid max-h-[calc(100dvh-2rem)] max-w-md -translate-y-1/2 animate-fade-in gap-4 overflow-y-auto rounded-2xl border bg-surface p-5 shadow-raised focus:outline-none sm:p-6"
        >
          <div className="grid gap-1.5">
            <Primitive.Title className="text-base font-semibold tracking-tight wrap-anywhere">{title}</Primitive.Title>
            <Primitive.Description asChild>
              <div className="grid gap-3 text-sm text-ink-muted">{children}</div>
            </Primitive.Description>
          </div>
          <div className="flex flex-wrap justify-end gap-2">
            <Primitive.Cancel asChild>
              <Button disabled={busy}>{cancel}</Button>
            </Primitive.Cancel>
            <Button variant="danger" aria-disabled={busy} onClick={() => !busy && on.onConfirm()}>
              {confirm}
            </Button>
          </div>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
