/**
 * A theme goes with its user: what is chosen is worn at once and stored, and what was chosen elsewhere is worn here. The browser keeps
 * what it wore last, so that the next load begins with it. At the door, where nobody is known, it is the browser's alone.
 */
import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answer, client } from '../../api.ts'
import { preferencesQuery } from '../settings/queries.ts'
import { usePreferences } from '../settings/use-preferences.ts'
import { useSession } from './session.ts'
import { type Theme, useTheme, wearTheme, wornTheme } from './theme.ts'

const useIsKnown = (): boolean => Boolean(useSession()?.user)

export function useUserTheme(): readonly [Theme, (theme: Theme) => void] {
  const isKnown = useIsKnown()
  const { mutate: save } = usePreferences()
  const choose = (theme: Theme) => {
    wearTheme(theme)
    if (isKnown) save({ theme })
  }
  return [useTheme(), choose]
}

/** Follows what is stored, wherever it was chosen. */
export function useStoredTheme(): void {
  const { data: stored } = useQuery({ ...preferencesQuery(), enabled: useIsKnown(), select: ({ theme }) => theme })
  useEffect(() => {
    if (stored) wearTheme(stored)
  }, [stored])
}

/** For who has just come in, so that the first page is in their theme at once. */
export async function wearStoredTheme(queryClient: QueryClient): Promise<void> {
  const known = await queryClient.fetchQuery(preferencesQuery()).catch(() => undefined)
  if (known) wearTheme(known.theme)
}

/** Who is new has none stored: what they chose at the door stays. */
export async function keepTheme(): Promise<void> {
  const theme = wornTheme()
  if (theme !== 'system') await answer(client.api.preferences.$patch({ json: { theme } })).catch(() => {})
}
