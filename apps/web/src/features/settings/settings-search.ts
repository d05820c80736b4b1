/** URL search parameters of this page. */
import { pickStrings } from '../../lib/url-search.ts'

export const TABS = ['general', 'rules', 'limits', 'answers', 'keys', 'models', 'servers', 'account'] as const
export type SettingsTab = (typeof TABS)[number]

export interface SettingsSearch {
  tab?: SettingsTab
}

export function readSettings(search: Record<string, unknown>): SettingsSearch {
  const tab = TABS.find((value) => value === pickStrings(search, ['tab']).tab)
  return tab ? { tab } : {}
}
