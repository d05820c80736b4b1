import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, client, type Toolkit } from '../../../lib/api.ts'
import { ServerOutput } from './server-output.tsx'

const AGAIN_MS = 5000

/** Output has no event, so the query polls while the server runs. */
const outputQuery = (toolkit: string) =>
  queryOptions({
    queryKey: ['toolkits', 'output', toolkit],
    queryFn: ({ signal }) =>
      answer(client.api.mcp[':id'].output.$get({ param: { id: toolkit } }, { init: { signal } })),
    refetchInterval: ({ state }) => (state.data?.running ? AGAIN_MS : false),
    // Output is optional, so errors are not shown.
    retry: false,
  })

/** Recent output of the user's own server. A failed server shows its output in the row. */
export function PrintedOutput({ toolkit }: { toolkit: Toolkit }) {
  const isOwn = toolkit.tier === 'user' && toolkit.server.type !== 'custom' && toolkit.state.output === undefined
  const { data } = useQuery({ ...outputQuery(toolkit.id), enabled: isOwn })
  if (!isOwn || !data || data.items.length === 0) return null
  return <ServerOutput output={data.items.map(formatEntry).join('\n')} of={toolkit.name} />
}

/** Log entry with its level and logger. */
const formatEntry = ({ level, logger, text }: { level?: string; logger?: string; text: string }) =>
  level === undefined ? text : `${level}${logger === undefined ? '' : ` (${logger})`}: ${text}`
