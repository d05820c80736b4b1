import { type ReactNode, useEffect } from 'react'
import { Brand } from '../../ui/layout/brand.tsx'
import { Toaster } from '../../ui/overlay/toaster.tsx'
import { ThemeSwitch } from '../shell/theme-switch.tsx'

/** Frame of the pages before sign-in. */
export function SignInLayout({
  title,
  description,
  children,
}: {
  title: string
  description?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Loadout`
  }, [title])
  return (
    <div className="grid min-h-dvh grid-rows-[1fr_auto]">
      <main className="grid content-center justify-items-center gap-6 px-4 py-10">
        <Brand />
        <div className="grid w-full max-w-sm gap-6 rounded-2xl border bg-surface p-6 shadow-flat sm:p-8">
          <header className="grid gap-1">
            <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
            {description && <p className="text-sm text-ink-muted">{description}</p>}
          </header>
          {children}
        </div>
      </main>
      <footer className="flex justify-center pb-6">
        <ThemeSwitch />
      </footer>
      <Toaster />
    </div>
  )
}
