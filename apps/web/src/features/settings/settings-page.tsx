import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '../../ui/layout/page.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../ui/layout/tabs.tsx'
import { useSession } from '../shell/session.ts'
import { AccountTab } from './account-tab.tsx'
import { GeneralTab } from './general-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { LimitsTab } from './limits-tab.tsx'
import { ModelsTab } from './models-tab.tsx'
import { PermissionsTab } from './permissions-tab.tsx'
import { RulesTab } from './rules-tab.tsx'
import { ServersTab } from './servers-tab.tsx'
import { type SettingsTab, TABS } from './settings-search.ts'

const route = getRouteApi('/shell/settings')

const LABELS: Record<SettingsTab, string> = {
  general: 'General',
  rules: 'Rules',
  limits: 'Limits',
  answers: 'Remembered answers',
  keys: 'API keys',
  models: 'Model keys',
  servers: 'Import and export',
  account: 'Account',
}

export function SettingsPage() {
  const { tab: requested = 'general' } = route.useSearch()
  const navigate = route.useNavigate()
  const session = useSession()
  const account = session?.mode === 'multi-user' && session.user ? session : undefined
  const tabs = TABS.filter((tab) => tab !== 'account' || account)
  const tab = tabs.includes(requested) ? requested : 'general'
  const panels: Record<SettingsTab, ReactNode> = {
    general: <GeneralTab />,
    rules: <RulesTab />,
    limits: <LimitsTab />,
    answers: <PermissionsTab />,
    keys: <KeysTab />,
    models: <ModelsTab />,
    servers: <ServersTab />,
    account: account && <AccountTab session={account} />,
  }
  const open = (next: string) =>
    navigate({ search: next === 'general' ? {} : { tab: next as SettingsTab }, resetScroll: false })
  return (
    <Page title="Settings" description="How Loadout works for you. Nobody else is affected.">
      <Tabs value={tab} onValueChange={open}>
        <TabList aria-label="Settings">
          {tabs.map((value) => (
            <Tab key={value} value={value}>
              {LABELS[value]}
            </Tab>
          ))}
        </TabList>
        {tabs.map((value) => (
          <TabPanel key={value} value={value} className="grid gap-8 pt-6 [&>*]:min-w-0">
            {value === tab && panels[value]}
          </TabPanel>
        ))}
      </Tabs>
    </Page>
  )
}
