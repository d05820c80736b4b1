import { Outlet, useLocation } from '@tanstack/react-router'
import { Menu as MenuIcon, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useLive } from '../../lib/live.ts'
import { Button } from '../../ui/form/button.tsx'
import { Brand } from '../../ui/layout/brand.tsx'
import { Dialog, Drawer } from '../../ui/overlay/dialog.tsx'
import { Toaster } from '../../ui/overlay/toaster.tsx'
import { SessionGuard } from '../sign-in/session-guard.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { Navigation } from './navigation.tsx'
import { Palette, usePalette } from './palette.tsx'
import { useSameUser, useSession } from './session.ts'

/** App frame around all pages: navigation, main area and dialogs. */
export function Shell() {
  const main = useFocusOnPageChange()
  const live = useLive()
  const palette = usePalette()
  const isSignedOut = useSession()?.user === null
  const { gone } = useSameUser()
  if (gone) return null
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-ink px-3 py-2 text-sm font-medium text-canvas focus-visible:translate-y-0"
      >
        Skip to the page
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col border-r bg-surface lg:flex" aria-label="Loadout">
        <Navigation onSearch={palette.open} />
      </aside>
      <TopBar onSearch={palette.open} />
      <main ref={main} id="main" tabIndex={-1} className="min-w-0 focus:outline-none">
        {/* After the session ended, `SessionGuard` shows that instead of a lost connection. */}
        {!isSignedOut && <ConnectionBar live={live} />}
        <Outlet />
      </main>
      <Palette {...palette} />
      <SessionGuard />
      <Toaster />
    </div>
  )
}

function TopBar({ onSearch }: { onSearch: () => void }) {
  const [open, setOpen] = useState(false)
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b bg-surface px-4 lg:hidden">
      <Brand />
      <span className="-mr-2 flex">
        <Button variant="quiet" size="icon" aria-label="Search and go" aria-haspopup="dialog" onClick={onSearch}>
          <Search aria-hidden />
        </Button>
        <Button
          variant="quiet"
          size="icon"
          aria-label="Open navigation"
          aria-haspopup="dialog"
          aria-expanded={open}
          onClick={() => setOpen(true)}
        >
          <MenuIcon aria-hidden />
        </Button>
      </span>
      <Dialog open={open} onOpenChange={setOpen}>
        <Drawer title="Navigation">
          <Navigation onNavigate={() => setOpen(false)} />
        </Drawer>
      </Dialog>
    </header>
  )
}

// A page change moves the focus to the page; the first load keeps the browser's order.
function useFocusOnPageChange() {
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const seen = useRef(pathname)
  useEffect(() => {
    if (seen.current !== pathname) main.current?.focus()
    seen.current = pathname
  }, [pathname])
  return main
}
