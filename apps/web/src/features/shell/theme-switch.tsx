import { Monitor, Moon, Sun } from 'lucide-react'
import type { Theme } from '../../lib/theme.ts'
import { useUserTheme } from '../../lib/theme.ts'
import { type Option, Segmented } from '../../ui/form/choice.tsx'

const THEMES: ReadonlyArray<Option<Theme>> = [
  { value: 'light', label: 'Light', icon: <Sun aria-hidden /> },
  { value: 'system', label: 'As the system', icon: <Monitor aria-hidden /> },
  { value: 'dark', label: 'Dark', icon: <Moon aria-hidden /> },
]

export function ThemeSwitch() {
  const [theme, choose] = useUserTheme()
  return <Segmented label="Theme" value={theme} options={THEMES} onChange={choose} iconOnly />
}
