import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../ui/layout/tabs.tsx'
import type { ActivitySearch } from './activity-search.ts'
import { LogTab } from './log-tab.tsx'

const route = getRouteApi('/shell/activity')
const UsageTab = lazy(() => import('./usage-tab.tsx').then((module) => ({ default: module.UsageTab })))

export function ActivityPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: ActivitySearch) =>
    navigate({ search: (old) => withoutEmpty({ ...old, ...changed }), replace: true, resetScroll: false })
  const tab = search.tab === 'usage' ? 'usage' : 'log'
  return (
    <Page wide title="Activity" description="What happened with your tools, and how much of it there was.">
      <Tabs
        value={tab}
        onValueChange={(next) => change({ tab: next === 'usage' ? next : undefined } as ActivitySearch)}
      >
        <TabList aria-label="Activity">
          <Tab value="log">Log</Tab>
          <Tab value="usage">Usage</Tab>
        </TabList>
        <TabPanel value="log">
          <LogTab search={search} onSearch={change} />
        </TabPanel>
        <TabPanel value="usage">
          <Suspense fallback={<Skeleton className="h-96 w-full rounded-2xl" />}>
            <UsageTab search={search} onSearch={change} />
          </Suspense>
        </TabPanel>
      </Tabs>
    </Page>
  )
}

const withoutEmpty = (search: ActivitySearch): ActivitySearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value))
