/** Mutations of a thread's activations and loaded tools. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, client } from '../../../lib/api.ts'
import { toastProblem } from '../../../lib/problems.tsx'

const { activations, loaded } = client.api.threads[':id']

function useThreadMutation<V>(threadId: string, mutationFn: (value: V) => Promise<unknown>) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn,
    onError: toastProblem,
    // Until the refetch the page shows the pending change.
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['threads', threadId] }),
  })
}

export interface Switched {
  ref: string
  on: boolean
}

export const useSwitchRef = (id: string) =>
  useThreadMutation(id, (json: Switched) => answer(activations.$post({ param: { id }, json })))

/** Removes activations of the thread: of one ref, or all. */
export const useResetRefs = (id: string) =>
  useThreadMutation(id, (ref: string | undefined) =>
    answer(activations.$delete({ param: { id }, query: ref === undefined ? {} : { ref } })),
  )

/** Turns on only these toolkits; servers that are added later stay off. */
export const useOnly = (id: string) =>
  useThreadMutation(id, (toolkits: string[]) => answer(activations.$put({ param: { id }, json: { toolkits } })))

export const useUnload = (id: string) =>
  useThreadMutation(id, (ref: string | undefined) =>
    answer(loaded.$delete({ param: { id }, query: ref === undefined ? {} : { ref } })),
  )
