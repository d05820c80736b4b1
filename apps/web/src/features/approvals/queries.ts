/** Queries and mutations of approvals and input requests. */
import { infiniteQueryOptions, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { InferRequestType, InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'
import type { FinalStatus } from './approvals-search.ts'

export type Approval = InferResponseType<typeof client.api.approvals.$get, 200>['items'][number]
export type ApprovalAnswer = InferRequestType<(typeof client.api.approvals)[':id']['answer']['$post']>['json']
export type ServerInput = InferResponseType<typeof client.api.inputs.$get, 200>['items'][number]
export type InputAnswer = InferRequestType<(typeof client.api.inputs)[':id']['$post']>['json']

export const pendingApprovalsQuery = () =>
  queryOptions({
    queryKey: ['approvals', 'pending'],
    queryFn: async ({ signal }) =>
      (await answer(client.api.approvals.$get({ query: { status: 'pending' } }, { init: { signal } }))).items,
  })

/** Pending approvals, newest first. */
export function usePendingApprovals(): { approvals: readonly Approval[]; count: number; isPending: boolean } {
  const { data, isPending } = useQuery(pendingApprovalsQuery())
  return { approvals: data ?? [], count: data?.length ?? 0, isPending }
}

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => answer(client.api.approvals[':id'].$get({ param: { id } }, { init: { signal } })),
  })

const PAGE = '25'

/** Past approvals by status; without a status, all approvals including pending ones. */
export const settledApprovalsQuery = (status: FinalStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: ['approvals', 'answered', status ?? 'all'],
    queryFn: ({ signal, pageParam }) =>
      answer(
        client.api.approvals.$get(
          { query: { limit: PAGE, ...(status ? { status } : {}), ...(pageParam ? { cursor: pageParam } : {}) } },
          { init: { signal } },
        ),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  })

export const inputsQuery = () =>
  queryOptions({
    queryKey: ['inputs'],
    queryFn: async ({ signal }) => (await answer(client.api.inputs.$get({}, { init: { signal } }))).items,
  })

/** Resolves an approval and refreshes everything that shows it, also after a conflict. */
export function useAnswerApproval(approval: Approval, onResolved: ((result: Approval) => void) | undefined) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (json: ApprovalAnswer) =>
      answer(client.api.approvals[':id'].answer.$post({ param: { id: approval.id }, json })),
    onSuccess: (result) => onResolved?.(result),
    onSettled: () => {
      for (const topic of ['approvals', 'runs', 'grants']) void queryClient.invalidateQueries({ queryKey: [topic] })
    },
  })
}

export function useAnswerInput(id: string, onResolved: ((action: InputAnswer['action']) => void) | undefined) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (json: InputAnswer) => answer(client.api.inputs[':id'].$post({ param: { id }, json })),
    onSuccess: (_, { action }) => onResolved?.(action),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['inputs'] }),
  })
}
