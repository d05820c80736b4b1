import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Braces } from 'lucide-react'
import { toolkitsQuery } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Empty } from '../../ui/data/empty.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { CustomEditor } from './custom-editor.tsx'

const route = getRouteApi('/shell/connectors/custom/$id')

export function CustomPage() {
  const { id } = route.useParams()
  const { data: toolkits, error } = useQuery({ ...toolkitsQuery(), enabled: id !== 'new' })
  const toolkit = toolkits?.find((item) => item.uscoId === id || item.id === id)
  if (id === 'new') return <CustomEditor key="new" toolkit={undefined} />
  if (toolkit?.server.type === 'custom' && !toolkit.readOnly)
    return <CustomEditor key={toolkit.uscoId} toolkit={toolkit} />
  return (
    <Page title="Custom toolkit">
      {error ? <ProblemNotice error={error} /> : toolkits ? <NotThere isOther={toolkit !== undefined} /> : <Loading />}
    </Page>
  )
}

function NotThere({ isOther }: { isOther: boolean }) {
  return (
    <Empty
      icon={Braces}
      title={isOther ? 'This one is not edited here' : 'There is no such toolkit of yours'}
      action={
        <Link to="/connectors" className="text-sm font-medium text-accent underline underline-offset-4">
          Go to MCP servers
        </Link>
      }
    >
      {isOther
        ? 'Only custom toolkits of your own have an editor. Others are changed where they are listed.'
        : 'It may have been deleted, here or elsewhere.'}
    </Empty>
  )
}

function Loading() {
  return (
    <div role="status" className="grid gap-4">
      <span className="sr-only">Loading the toolkit</span>
      <Skeleton className="h-9 w-64" />
      <Skeleton className="h-96 w-full rounded-xl" />
    </div>
  )
}
