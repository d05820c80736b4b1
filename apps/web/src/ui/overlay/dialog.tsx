import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '../cn.ts'
import { Button } from '../form/button.tsx'

export const Dialog = Primitive.Root

const overlay = 'fixed inset-0 z-40 bg-backdrop animate-fade-in'

interface DialogContentProps {
  children: ReactNode
  /** Puts the focus where it belongs, where that is not the first thing that takes it. */
  onOpened?: (() => void) | undefined
  /** Puts the focus where it belongs afterwards. */
  onClosed: () => void
  /** Whether a click beside it leaves it open. */
  keepOpen?: boolean
  /** Whether it comes over other dialogs, and their shade is not enough. */
  above?: boolean
}

/** A page of its own on a phone, a card above the page elsewhere. Header and footer stay, the middle scrolls; in a low window all of it does. */
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
  /** Whether it cannot be closed. */
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

/** A panel from the left edge, for navigation on a small screen. */
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
