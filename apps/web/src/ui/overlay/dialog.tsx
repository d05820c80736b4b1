import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '../cn.ts'
import { Button } from '../form/button.tsx'

export const Dialog = Primitive.Root

const overlay = 'fixed inset-0 z-40 bg-backdrop animate-fade-in'

interface DialogContentProps {
  children: ReactNode
  /** Sets the initial focus, if it is not the first focusable element. */
  onOpened?: (() => void) | undefined
  /** Restores the focus. */
  onClosed: () => void
  /** Whether an outside click keeps the dialog open. */
  keepOpen?: boolean
  /** Whether the dialog covers other dialogs. */
  above?: boolean
}

/**
 * Full screen on phones, a card elsewhere. Header and footer stay while the body scrolls; in low windows everything
 * scrolls.
 */
export function DialogContent({ onOpened, onClosed, keepOpen, above, children }: DialogContentProps) {
  return (
    <Primitive.Portal>
      <Primitive.Overlay className={cn(overlay, above && 'z-50')} />
      <Primitive.Content
        onInteractOutside={(event) => keepOpen && event.preventDefault()}
        onOpenAutoFocus={(event) => {
          if (!onOpened) return
          event.preventDefault()
          onOpened()
        }}
        onCloseAutoFocus={(event) => {
          event.preventDefault()
          onClosed()
        }}
        className="fixed inset-0 z-50 flex animate-rise-in flex-col bg-surface low:block low:overflow-y-auto focus:outline-none sm:inset-auto sm:top-[6dvh] sm:left-1/2 sm:max-h-[88dvh] sm:w-[calc(100%-2rem)] sm:max-w-xl sm:-translate-x-1/2 sm:rounded-2xl sm:border sm:shadow-raised"
      >
        {children}
      </Primitive.Content>
    </Primitive.Portal>
  )
}

interface DialogHeaderProps {
  title: string
  description: ReactNode
  /** Whether the dialog has no close button. */
  stays?: boolean
}

export function DialogHeader({ title, description, stays }: DialogHeaderProps) {
  return (
    <header className="flex items-start gap-4 border-b px-4 py-4 sm:px-6">
      <div className="grid min-w-0 flex-1 gap-0.5">
        <Primitive.Title className="text-base font-semibold tracking-tight wrap-anywhere">{title}</Primitive.Title>
        <Primitive.Description className="text-sm text-ink-muted">{description}</Primitive.Description>
      </div>
      {!stays && (
        <Primitive.Close asChild>
          <Button variant="quiet" size="icon" aria-label="Close" className="-mt-1 -mr-2">
            <X aria-hidden />
          </Button>
        </Primitive.Close>
      )}
    </header>
  )
}

export function DialogFooter({ children }: { children: ReactNode }) {
  return <footer className="flex flex-wrap justify-end gap-2 border-t px-4 py-3 sm:px-6">{children}</footer>
}

/** Navigation drawer on the left for small screens. */
export function Drawer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Primitive.Portal>
      <Primitive.Overlay className={overlay} />
      <Primitive.Content
        aria-describedby={undefined}
        className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] animate-slide-in flex-col border-r low:block low:overflow-y-auto bg-surface focus:outline-none"
      >
        <Primitive.Title className="sr-only">{title}</Primitive.Title>
        {children}
      </Primitive.Content>
    </Primitive.Portal>
  )
}
