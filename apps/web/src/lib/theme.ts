/** Theme of this browser. `public/theme.js` applies it before the first paint and on every change. */

import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { preferencesQuery } from '../features/settings/queries.ts'
import { usePreferences } from '../features/settings/use-preferences.ts'
import { sessionQuery, useSession } from '../features/shell/session.ts'
import { answer, client } from './api.ts'

export type Theme = 'light' | 'system' | 'dark'

const KEY = 'loadout-theme'

export function currentTheme(): Theme {
  try {
    const stored = window.localStorage.getItem(KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

export function setTheme(theme: Theme): void {
  if (theme === currentTheme()) return
  try {
    window.localStorage.setItem(KEY, theme)
  } catch {
    // Storage may be blocked; the choice is then lost.
  }
  window.dispatchEvent(new Event(KEY))
}

function subscribe(changed: () => void): () => void {
  window.addEventListener(KEY, changed)
  window.addEventListener('storage', changed)
  return () => {
    window.removeEventListener(KEY, changed)
    window.removeEventListener('storage', changed)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, currentTheme)

/**
 * The theme is stored per user and follows them to other browsers. The browser keeps a copy for the next load; before
 * sign-in only that copy counts.
 */
const useIsSignedIn = (): boolean => Boolean(useSession()?.user)

export function useUserTheme(): readonly [Theme, (theme: Theme) => void] {
  const queryClient = useQueryClient()
  const { mutate: save } = usePreferences()
  const choose = async (theme: Theme) => {
    setTheme(theme)
    // A user can choose a theme before the page has loaded their session.
    const session = await queryClient.ensureQueryData(sessionQuery()).catch(() => undefined)
    if (session?.user) save({ theme })
  }
  return [useTheme(), choose]
}

/** Applies the stored theme whenever it changes. */
export function useStoredTheme(): void {
  const { data: stored } = useQuery({ ...preferencesQuery(), enabled: useIsSignedIn(), select: ({ theme }) => theme })
  useEffect(() => {
    if (stored) setTheme(stored)
  }, [stored])
}

/** Applies the stored theme after sign-in, before the first page renders. */
export async function applyStoredTheme(queryClient: QueryClient): Promise<void> {
  const preferences = await queryClient.fetchQuery(preferencesQuery()).catch(() => undefined)
  if (preferences) setTheme(preferences.theme)
}

/** Stores the theme that a new user chose before sign-in. */
export async function saveTheme(): Promise<void> {
  const theme = currentTheme()
  if (theme !== 'system') await answer(client.api.preferences.$patch({ json: { theme } })).catch(() => {})
}
