import { Check, LoaderCircle, RefreshCw, RotateCw } from 'lucide-react'
import { useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { counted } from '../../../ui/data/format-time.ts'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Tab, TabList, TabPanel, Tabs } from '../../../ui/layout/tabs.tsx'
import { OFFERED } from '../queries.ts'
import { OfferedList } from '../tools/offered-list.tsx'
import { useAccept, useRefreshTools } from '../use-tools.ts'
import { PrintedOutput } from './printed-output.tsx'
import { ToolkitTools } from './toolkit-tools.tsx'

/** Unfolded server: tools, resources, prompts and output. */
export function ToolkitDetails({ toolkit }: { toolkit: Toolkit }) {
  const hasServer = toolkit.server.type !== 'custom'
  const [tab, setTab] = useState('tools')
  return (
    <div className="grid gap-4 border-t bg-raised/40 px-4 py-4 sm:px-5">
      <DetailActions toolkit={toolkit} hasServer={hasServer} />
      {hasServer && toolkit.enabled ? (
        <Tabs value={tab} onValueChange={setTab}>
          <TabList aria-label={`What ${toolkit.name} offers`}>
            <Tab value="tools">Tools</Tab>
            <Tab value="resources">Resources</Tab>
            <Tab value="prompts">Prompts</Tab>
          </TabList>
          <TabPanel value="tools" className="pt-3">
            <ToolkitTools toolkit={toolkit} />
          </TabPanel>
          {OFFERED.map((kind) => (
            <TabPanel key={kind} value={kind} className="pt-2">
              <OfferedList toolkit={toolkit} kind={kind} />
            </TabPanel>
          ))}
        </Tabs>
      ) : (
        <ToolkitTools toolkit={toolkit} />
      )}
      <PrintedOutput toolkit={toolkit} />
    </div>
  )
}

function DetailActions({ toolkit, hasServer }: { toolkit: Toolkit; hasServer: boolean }) {
  const refresh = useRefreshTools()
  const accept = useAccept()
  const waiting = toolkit.tools.filter(({ changed, held }) => changed || held).length
  const start = (reconnect: boolean) => !refresh.isPending && refresh.mutate({ toolkit, reconnect })
  const busy = (reconnect: boolean) => refresh.isPending && refresh.variables.reconnect === reconnect
  return (
    <div className="flex flex-wrap items-center gap-2">
      {toolkit.enabled && (
        <Button
          size="small"
          aria-label={`Refresh tools of ${toolkit.name}`}
          aria-disabled={refresh.isPending}
          onClick={() => start(false)}
        >
          {busy(false) ? <Spinner /> : <RefreshCw aria-hidden />} Refresh tools
        </Button>
      )}
      {toolkit.enabled && hasServer && (
        <Button
          size="small"
          aria-label={`Reconnect ${toolkit.name}`}
          aria-disabled={refresh.isPending}
          onClick={() => start(true)}
        >
          {busy(true) ? <Spinner /> : <RotateCw aria-hidden />} Reconnect
        </Button>
      )}
      {waiting > 1 && (
        <Button
          size="small"
          aria-label={`Accept all tools of ${toolkit.name}`}
          aria-disabled={accept.isPending}
          onClick={() => !accept.isPending && accept.mutate({ toolkit })}
        >
          <Check aria-hidden /> Accept all {waiting}
        </Button>
      )}
      <span role="status" className="text-[0.8125rem] text-ink-muted">
        {refresh.isPending ? 'Asking the server…' : <LastLook toolkit={toolkit} />}
      </span>
    </div>
  )
}

const Spinner = () => <LoaderCircle aria-hidden className="motion-safe:animate-spin" />

function LastLook({ toolkit }: { toolkit: Toolkit }) {
  const { discoveredAt, state } = toolkit
  if (!discoveredAt) return toolkit.toolCount > 0 ? counted(toolkit.toolCount, 'tool') : null
  return (
    <>
      {state.status === 'error' ? 'Last tried' : 'Tools last discovered'} <TimeAgo at={discoveredAt} />
    </>
  )
}
