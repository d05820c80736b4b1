import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { healthQuery } from '../../api.ts'
import { Brand } from '../../ui/brand.tsx'
import { PAGES } from './pages.ts'
import { ThemeSwitch } from './theme-switch.tsx'

/** The column beside every page, and the drawer that stands for it on a small screen. */
export function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  return (
    <>
      <div className="px-5 py-5">
        <Brand />
      </div>
      <nav aria-label="Pages" className="flex-1 overflow-y-auto px-3">
        <ul className="grid gap-0.5">
          {PAGES.map(({ to, label, icon: Icon }) => (
            <li key={to}>
              <Link
                to={to}
                onClick={onNavigate}
                className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-sm font-medium text-ink-muted transition-colors hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
              >
                <Icon aria-hidden className="size-4" strokeWidth={1.75} />
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="flex items-center justify-between gap-3 px-5 py-4">
        <ThemeSwitch />
        <Version />
      </div>
    </>
  )
}

function Version() {
  const { data } = useQuery(healthQuery())
  return data ? <span className="text-xs text-ink-faint tabular-nums">{data.version}</span> : null
}
