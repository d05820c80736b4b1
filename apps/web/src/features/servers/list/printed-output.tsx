import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, client, type Toolkit } from '../../../lib/api.ts'
import { ServerOutput } from './server-output.tsx'

const AGAIN_MS = 5000

/** It is printed without an event, so while somebody looks it is read again. */
const outputQuery = (toolkit: string) =>
  queryOptions({
    queryKey: ['toolkits', 'output', toolkit],
    queryFn: ({ signal }) =>
      answer(client.api.mcp[':id'].output.$get({ param: { id: toolkit } }, { init: { signal } })),
    refetchInterval: ({ state }) => (state.data?.running ? AGAIN_MS : false),
    // Nobody is told that this could not be read: it is beside the point of the page.
    retry: false,
  })

/** What one's own server said lately beside its answers. Where it failed, the row shows that already. */
export function PrintedOutput({ toolkit }: { toolkit: Toolkit }) {
  const isOwn = toolkit.tier === 'user' && toolkit.server.type !== 'custom' && toolkit.state.output === undefined
  const { data } = useQuery({ ...outputQuery(toolkit.id), enabled: isOwn })
  if (!isOwn || !data || data.items.length === 0) return null
  return <ServerOutput output={data.items.map(formatEntry).join('\n')} of={toolkit.name} />
}

/** What it logged says how bad it is, and which part of it says so. */
const formatEntry = ({ level, logger, text }: { level?: string; logger?: string; text: string }) =>
  level === undefined ? text : `${level}${logger === undefined ? '' : ` (${logger})`}: ${text}`
