import { queryOptions } from '@tanstack/react-query'
import { answer, client } from '../../lib/api.ts'

/** How many questions stand open: calls that need a yes, and what servers ask. */
export const pendingCountQuery = () =>
  queryOptions({
    queryKey: ['approvals', 'waiting'],
    queryFn: async ({ signal }) => {
      const init = { init: { signal } }
      const [approvals, inputs] = await Promise.all([
        answer(client.api.approvals.$get({ query: { status: 'pending' } }, init)),
        answer(client.api.inputs.$get({}, init)),
      ])
      return approvals.items.length + inputs.items.length
    },
  })
