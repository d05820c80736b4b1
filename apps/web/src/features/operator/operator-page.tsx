import { getRouteApi } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import type { ComponentType } from 'react'
import { Empty } from '../../ui/data/empty.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../ui/layout/tabs.tsx'
import { useSession } from '../shell/session.ts'
import { PolicyTab } from './policy/policy-tab.tsx'
import { AppToolkits } from './servers/app-toolkits.tsx'
import { ConfigTab } from './system/config-tab.tsx'
import { UpkeepTab } from './system/maintenance-tab.tsx'
import { AppModelsTab } from './system/models-tab.tsx'
import { UsersTab } from './users/users-tab.tsx'

const route = getRouteApi('/shell/operator')

const TABS: ReadonlyArray<{ value: string; label: string; content: ComponentType }> = [
  { value: 'servers', label: 'Global servers', content: AppToolkits },
  { value: 'policy', label: 'Policy', content: PolicyTab },
  { value: 'settings', label: 'Settings and limits', content: ConfigTab },
  { value: 'users', label: 'Users', content: UsersTab },
  { value: 'models', label: 'Model keys', content: AppModelsTab },
  { value: 'upkeep', label: 'Server', content: UpkeepTab },
]

export function OperatorPage() {
  const session = useSession()
  if (session?.user?.operator === false) return <NotForYou />
  return (
    <Page title="Operator" description="What holds for everyone who uses this Loadout.">
      <Sections />
    </Page>
  )
}

function Sections() {
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const active = TABS.find(({ value }) => value === tab) ?? TABS[0]
  return (
    <Tabs
      value={active?.value ?? ''}
      onValueChange={(next) => navigate({ search: { tab: next === 'servers' ? undefined : next }, resetScroll: false })}
    >
      <TabList aria-label="What an operator sets">
        {TABS.map(({ value, label }) => (
          <Tab key={value} value={value}>
            {label}
          </Tab>
        ))}
      </TabList>
      {TABS.map(({ value, content: Content }) => (
        <TabPanel key={value} value={value} className="grid gap-8 pt-6 [&>*]:min-w-0">
          <Content />
        </TabPanel>
      ))}
    </Tabs>
  )
}

function NotForYou() {
  return (
    <Page title="Operator">
      <Empty icon={ShieldCheck} title="For operators">
        <p>What holds for everyone is set by an operator. Ask one of them if you need a server or a limit changed.</p>
      </Empty>
    </Page>
  )
}
