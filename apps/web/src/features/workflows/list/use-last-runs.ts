/** Last run of each workflow: from the newest runs, or fetched if it is older. */
import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { answer, client } from '../../../lib/api.ts'
import { type Run, runsQuery, type Workflow } from '../queries.ts'

export function useLastRuns(workflows: readonly Workflow[]): (workflowId: string) => Run | undefined {
  const { data, hasNextPage } = useInfiniteQuery(runsQuery())
  const newest = new Map<string, Run>()
  for (const run of data?.pages.flatMap(({ items }) => items) ?? [])
    if (run.workflow?.id && !newest.has(run.workflow.id)) newest.set(run.workflow.id, run)
  const older = data && hasNextPage ? workflows.filter(({ id }) => !newest.has(id)) : []
  const found = useQueries({
    queries: older.map(({ id: workflowId }) => ({
      queryKey: ['runs', 'last', workflowId],
      queryFn: async () =>
        (await answer(client.api.runs.$get({ query: { workflowId, limit: '1' } }))).items[0] as unknown as Run | null,
    })),
  })
  return (workflowId) =>
    newest.get(workflowId) ?? found[older.findIndex(({ id }) => id === workflowId)]?.data ?? undefined
}
