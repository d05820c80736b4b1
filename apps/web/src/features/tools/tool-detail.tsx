import { useState } from 'react'
import { Tab, TabList, TabPanel, Tabs } from '../../ui/tabs.tsx'
import { JsonTree } from '../results/json-tree.tsx'
import type { ExplainedTool } from './queries.ts'
import { AnnotationBadges } from './tool-badges.tsx'
import { ToolFacts } from './tool-facts.tsx'
import type { LocatedTool } from './tool-rows.ts'
import { TryTool } from './try-tool.tsx'
import type { Tries } from './use-tries.ts'

interface DetailProps {
  located: LocatedTool
  explained: ExplainedTool | undefined
  tries: Tries
}

export const titleOf = ({ tool }: LocatedTool): string => tool.title ?? tool.annotations?.title ?? tool.name

/** One tool: what it is, and a try of it. */
export function ToolDetail({ located, explained, tries }: DetailProps) {
  const { tool } = located
  const [tab, setTab] = useState('try')
  return (
    <div className="grid min-w-0 gap-4">
      <div className="flex flex-wrap gap-1.5">
        <AnnotationBadges tool={tool} />
      </div>
      {tool.description && (
        <p className="max-h-48 overflow-y-auto text-sm wrap-anywhere whitespace-pre-wrap">{tool.description}</p>
      )}
      <ToolFacts located={located} explained={explained} />
      <Tabs value={tab} onValueChange={setTab}>
        <TabList aria-label="Of this tool">
          <Tab value="try">Try it</Tab>
          <Tab value="input">Input schema</Tab>
          {tool.outputSchema && <Tab value="output">Output schema</Tab>}
        </TabList>
        <TabPanel value="try">
          <TryTool located={located} tries={tries} />
        </TabPanel>
        <TabPanel value="input">
          <JsonTree value={tool.inputSchema} label="Input schema" />
        </TabPanel>
        {tool.outputSchema && (
          <TabPanel value="output">
            <JsonTree value={tool.outputSchema} label="Output schema" />
          </TabPanel>
        )}
      </Tabs>
    </div>
  )
}
