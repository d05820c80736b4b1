import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from '../form/button.tsx'

interface SheetProps {
  title: string
  open: boolean
  onOpenChange: (open: boolean) => void
  children: ReactNode
}

/** Panel on the right for narrow screens. The focus returns to its opener. */
export function Sheet({ title, open, onOpenChange, children }: SheetProps) {
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 animate-fade-in bg-backdrop" />
        <Primitive.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 right-0 z-50 flex w-[26rem] max-w-full animate-fade-in flex-col border-l low:block low:overflow-y-auto bg-surface focus:outline-none"
        >
          <header className="flex items-center justify-between gap-3 border-b px-4 py-2.5">
            <Primitive.Title className="font-semibold tracking-tight">{title}</Primitive.Title>
            <Primitive.Close asChild>
              <Button variant="quiet" size="icon" aria-label="Close" className="-mr-2">
                <X aria-hidden />
              </Button>
            </Primitive.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
