import 'sonner/dist/styles.css'
import { Toaster as Sonner } from 'sonner'

/** Short words after something was done. Styled with our own tokens, so it follows the theme by itself. */
export function Toaster() {
  return (
    // Without this the focus that leaves a toast is sent back to where it came from: Tab would lead nowhere as long as one is shown.
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
