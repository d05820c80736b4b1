import { useState } from 'react'
import { LongText } from '../../ui/data/long-text.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../ui/layout/tabs.tsx'
import { OverriddenMark, ToolBadges } from '../servers/tools/tool-badges.tsx'
import { ToolIcon } from '../servers/tools/tool-icon.tsx'
import { presentedTool } from '../servers/tools/tool-override.ts'
import type { ExplainedTool } from './queries.ts'
import { TryTool } from './test/test-tool.tsx'
import type { TestHistory } from './test/use-test-history.ts'
import { ToolFacts } from './tool-facts.tsx'
import type { LocatedTool } from './tool-rows.ts'
import { Declaration, SchemaView } from './tool-types.tsx'

interface DetailProps {
  located: LocatedTool
  explained: ExplainedTool | undefined
  tries: TestHistory
}

/** Title as models see it. */
export function toolTitle({ toolkit, tool }: LocatedTool): string {
  const { title, annotations } = presentedTool(toolkit, tool).tool
  return title ?? annotations?.title ?? tool.name
}

/** Details and test run of one tool. */
export function ToolDetail({ located, explained, tries }: DetailProps) {
  const { tool, changed } = presentedTool(located.toolkit, located.tool)
  const [tab, setTab] = useState('try')
  return (
    <div className="grid min-w-0 gap-4">
      <div className="flex flex-wrap items-center gap-1.5">
        <ToolIcon icons={tool.icons} />
        <ToolBadges annotations={tool.annotations} />
        <OverriddenMark changed={changed} />
      </div>
      {tool.description && <LongText className="text-sm">{tool.description}</LongText>}
      <ToolFacts located={located} explained={explained} />
      <Tabs value={tab} onValueChange={setTab}>
        <TabList aria-label="Of this tool">
          <Tab value="try">Try it</Tab>
          <Tab value="input">
            <span>
              Input<span className="max-sm:sr-only"> schema</span>
            </span>
          </Tab>
          {tool.outputSchema && (
            <Tab value="output">
              <span>
                Output<span className="max-sm:sr-only"> schema</span>
              </span>
            </Tab>
          )}
          <Tab value="types">TypeScript</Tab>
        </TabList>
        <TabPanel value="try">
          <TryTool located={located} tries={tries} />
        </TabPanel>
        <TabPanel value="input">
          <SchemaView schema={tool.inputSchema} label="Input schema" />
        </TabPanel>
        {tool.outputSchema && (
          <TabPanel value="output">
            <SchemaView schema={tool.outputSchema} label="Output schema" />
          </TabPanel>
        )}
        <TabPanel value="types">
          <Declaration located={located} />
        </TabPanel>
      </Tabs>
    </div>
  )
}
