/** What of this page stands in the address. */
import { pickStrings } from '../shell/search.ts'

export interface SettingsSearch {
  tab?: string
}

export const readSettings = (search: Record<string, unknown>): SettingsSearch => pickStrings(search, ['tab'])
