import 'sonner/dist/styles.css'
import { Toaster as Sonner } from 'sonner'

/** Toasts styled with the theme's tokens. */
export function Toaster() {
  return (
    // Sonner sends the focus back when it leaves a toast, which would trap Tab.
    <div onFocusCapture={(event) => event.stopPropagation()}>
      <Sonner
        position="bottom-right"
        toastOptions={{
          unstyled: true,
          classNames: {
            toast:
              'flex w-full items-start gap-3 rounded-xl border bg-raised p-3.5 text-sm text-ink shadow-raised font-sans [&_[data-icon]]:mt-0.5',
            title: 'font-medium',
            description: 'mt-0.5 text-ink-muted',
            success: '[&_[data-icon]]:text-good',
            error: '[&_[data-icon]]:text-bad',
          },
        }}
      />
    </div>
  )
}
