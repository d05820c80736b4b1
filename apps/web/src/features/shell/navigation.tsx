import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LogOut, Search } from 'lucide-react'
import { healthQuery } from '../../lib/api.ts'
import { useStoredTheme } from '../../lib/theme.ts'
import { Button } from '../../ui/form/button.tsx'
import { Brand } from '../../ui/layout/brand.tsx'
import { PAGES } from './pages.ts'
import { pendingCountQuery } from './pending-count.ts'
import { type SignedIn, useSession, useSignOutHere } from './session.ts'
import { ThemeSwitch } from './theme-switch.tsx'

/** Sidebar, and drawer on small screens. */
export function Navigation({ onNavigate, onSearch }: { onNavigate?: () => void; onSearch?: () => void }) {
  const session = useSession()
  useStoredTheme()
  const isOperator = session?.user?.operator ?? false
  return (
    <>
      <div className="px-5 pt-5 pb-4">
        <Brand />
      </div>
      {onSearch && <SearchButton onClick={onSearch} />}
      <nav aria-label="Pages" className="flex-1 overflow-y-auto px-3">
        <ul className="grid gap-0.5">
          {PAGES.filter(({ operator }) => !operator || isOperator).map(({ to, label, icon: Icon }) => (
            <li key={to}>
              <Link
                to={to}
                onClick={onNavigate}
                className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-sm font-medium text-ink-muted transition-colors hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
              >
                <Icon aria-hidden className="size-4" strokeWidth={1.75} />
                {label}
                {to === '/approvals' && <WaitingCount />}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {session?.mode === 'multi-user' && session.user && <UserCard user={session.user} />}
      <div className="flex items-center justify-between gap-3 px-5 py-4">
        <ThemeSwitch />
        <Version />
      </div>
    </>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  const isMac = navigator.platform.startsWith('Mac')
  return (
    <div className="px-3 pb-3">
      <button
        type="button"
        onClick={onClick}
        aria-haspopup="dialog"
        className="flex h-9 w-full items-center gap-2.5 rounded-lg border bg-canvas px-2.5 text-sm text-ink-muted transition-colors hover:border-line-strong hover:text-ink"
      >
        <Search aria-hidden className="size-4" strokeWidth={1.75} />
        <span className="flex-1 text-left">Search and go</span>
        <kbd className="font-sans text-xs text-ink-faint">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
    </div>
  )
}

function WaitingCount() {
  const { data: count = 0 } = useQuery(pendingCountQuery())
  if (count === 0) return null
  return (
    <span className="ml-auto flex h-5 min-w-5 items-center justify-center rounded-full bg-act-soft px-1.5 text-xs font-semibold text-act tabular-nums">
      {count > 99 ? '99+' : count}
      <span className="sr-only"> waiting</span>
    </span>
  )
}

function UserCard({ user }: { user: SignedIn }) {
  const signOut = useSignOutHere()
  return (
    <div className="mx-3 flex items-center gap-2 rounded-lg border px-2.5 py-2">
      <div className="grid min-w-0 flex-1">
        <p className="truncate text-sm font-medium">{user.name || user.email}</p>
        {(user.operator || user.email !== user.name) && (
          <p className="truncate text-xs text-ink-muted">{user.operator ? 'Operator' : user.email}</p>
        )}
      </div>
      <Button
        variant="quiet"
        size="icon"
        aria-label="Sign out"
        title="Sign out"
        className="-mr-1 size-8"
        disabled={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        <LogOut aria-hidden />
      </Button>
    </div>
  )
}

function Version() {
  const { data } = useQuery(healthQuery())
  return data ? <span className="text-xs text-ink-faint tabular-nums">{data.version}</span> : null
}
