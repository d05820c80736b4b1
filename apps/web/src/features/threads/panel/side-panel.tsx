import { Tab, TabList, TabPanel, Tabs } from '../../../ui/layout/tabs.tsx'
import type { Thread } from '../queries.ts'
import { AvailableTools } from './available-tools.tsx'
import { ExplainList } from './explain-list.tsx'
import { LoadedTools } from './loaded-tools.tsx'
import { ThreadLimits } from './thread-limits.tsx'
import { ThreadRules } from './thread-rules.tsx'

/** Side panel of a thread: toolkits, loaded tools, explanations, rules and limits. */
export function SidePanel({ thread }: { thread: Thread }) {
  return (
    <Tabs defaultValue="carried">
      <TabList className="sticky top-0 z-10 gap-4 bg-surface px-4" aria-label="Tools of this thread">
        <Tab value="carried">Toolkits</Tab>
        <Tab value="loaded">Loaded</Tab>
        <Tab value="why">Why</Tab>
        <Tab value="rules">Rules</Tab>
        <Tab value="limits">Limits</Tab>
      </TabList>
      <TabPanel value="carried" className="p-4">
        <AvailableTools threadId={thread.id} />
      </TabPanel>
      <TabPanel value="loaded" className="p-4">
        <LoadedTools threadId={thread.id} />
      </TabPanel>
      <TabPanel value="why" className="p-4">
        <ExplainList threadId={thread.id} />
      </TabPanel>
      <TabPanel value="rules" className="p-4">
        <ThreadRules threadId={thread.id} />
      </TabPanel>
      <TabPanel value="limits" className="p-4">
        <ThreadLimits thread={thread} />
      </TabPanel>
    </Tabs>
  )
}
