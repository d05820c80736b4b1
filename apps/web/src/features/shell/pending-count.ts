import { queryOptions } from '@tanstack/react-query'
import { answer, client } from '../../lib/api.ts'

/** Number of pending approvals and input requests. */
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
