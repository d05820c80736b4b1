import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { SearchX, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { toolkitQuery, toolkitsQuery } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Empty } from '../../ui/data/empty.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { MAX_FOUND, searchQuery, toolExplainQuery } from './queries.ts'
import { SearchBar } from './search-bar.tsx'
import { SearchResults } from './search-results.tsx'
import { useTestHistory } from './test/use-test-history.ts'
import { ToolList } from './tool-list.tsx'
import { ToolSide } from './tool-panel.tsx'
import { locate } from './tool-rows.ts'
import type { Strategy } from './tools-search.ts'

export function ToolsPage() {
  const { q = '', tool, strategy } = useSearch({ from: '/shell/tools' })
  const navigate = useNavigate({ from: '/tools' })
  const toolkits = useQuery(toolkitsQuery())
  const { data: explained } = useQuery(toolExplainQuery())
  const tries = useTestHistory()
  const listed = locate(toolkits.data, tool)
  const whole = useQuery(toolkitQuery(listed?.toolkit.uscoId))
  // The list has no schemas, so the tool is shown once its toolkit is loaded with them.
  const located = whole.data && locate([whole.data], tool)
  const close = () => navigate({ search: ({ tool: _, ...rest }) => rest, resetScroll: false })
  return (
    <Page title="Tools" description="Search them as the model does, see what it gets, and try any of them." wide>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
        <div className="grid min-w-0 gap-4">
          <SearchBar q={q} strategy={strategy} />
          {q.trim() === '' ? <AllTools chosen={tool} /> : <Found q={q} strategy={strategy} chosen={tool} />}
        </div>
        <ToolSide
          wanted={tool}
          isLoading={toolkits.isPending || (listed !== undefined && whole.isPending)}
          located={located}
          explained={tool === undefined ? undefined : explained?.get(tool)}
          tries={tries}
          onClose={close}
        />
      </div>
    </Page>
  )
}

interface AllProps {
  chosen: string | undefined
}

function AllTools({ chosen }: AllProps) {
  const { data: toolkits, isPending, error, refetch } = useQuery(toolkitsQuery())
  const { data: explained } = useQuery(toolExplainQuery())
  if (isPending) return <LoadingTools />
  if (!toolkits)
    return (
      <ProblemNotice error={error}>
        <Button size="small" className="mt-1 w-fit" onClick={() => refetch()}>
          Try again
        </Button>
      </ProblemNotice>
    )
  const withTools = toolkits.filter(({ tools }) => tools.length > 0)
  if (withTools.length === 0)
    return (
      <Empty icon={Wrench} title="No tools yet" action={<ToServers>Add a server</ToServers>}>
        Tools come from MCP servers. Add one and connect to it; what it offers stands here, to be searched and tried.
      </Empty>
    )
  return <ToolList toolkits={withTools} explained={explained} chosen={chosen} />
}

function Found({ q, strategy, chosen }: { q: string; strategy: Strategy | undefined; chosen: string | undefined }) {
  const { data, error, isPending, isPlaceholderData } = useQuery(searchQuery(q, strategy))
  if (isPending) return <LoadingTools />
  if (!data) return <ProblemNotice error={error} />
  const count = data.tools.length
  return (
    <div className="grid gap-3" aria-busy={isPlaceholderData}>
      <p role="status" className="text-[0.8125rem] text-ink-muted">
        {formatCount(count)}, searched by {data.strategy}
      </p>
      {data.warnings.map((warning) => (
        <p key={warning} className="rounded-lg border border-line bg-sunken px-3 py-2 text-[0.8125rem] text-ink-muted">
          {warning}
        </p>
      ))}
      {count === 0 ? (
        <Empty icon={SearchX} title="No tool fits">
          A model that asks this would find nothing either. Say it in other words, or look for it by another strategy.
          Tools that are off are not searched.
        </Empty>
      ) : (
        <SearchResults tools={data.tools} chosen={chosen} />
      )}
    </div>
  )
}

function formatCount(count: number): string {
  if (count === 0) return 'Nothing fits'
  if (count === 1) return '1 tool fits'
  // The total is unknown at the limit.
  return count < MAX_FOUND ? `${count} tools fit` : `The best ${count}`
}

const ToServers = ({ children }: { children: ReactNode }) => (
  <Link
    to="/connectors"
    className="inline-flex h-9 items-center rounded-lg bg-ink px-3.5 text-sm font-medium text-canvas hover:bg-ink/88"
  >
    {children}
  </Link>
)

function LoadingTools() {
  return (
    <div role="status" className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
      <span className="sr-only">Loading the tools</span>
      {['w-32', 'w-44', 'w-24', 'w-40', 'w-28'].map((width) => (
        <div key={width} className="grid h-15 content-center gap-2 px-4">
          <Skeleton className={`h-3.5 ${width}`} />
          <Skeleton className="h-3 w-3/5" />
        </div>
      ))}
    </div>
  )
}
