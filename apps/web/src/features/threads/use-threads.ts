/** Thread mutations. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { toast } from 'sonner'
import { answer, client } from '../../lib/api.ts'
import { toastProblem } from '../../lib/problems.tsx'
import { type Thread, threadQuery } from './queries.ts'

export const threadTitle = ({ title }: Pick<Thread, 'title'>): string => title || 'Untitled thread'

export function useNewThread() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (title: string) => answer(client.api.threads.$post({ json: title ? { title } : {} })),
    onSuccess: (thread) => {
      queryClient.setQueryData(threadQuery(thread.id).queryKey, thread)
      queryClient.invalidateQueries({ queryKey: ['threads', 'list'] })
      navigate({ to: '/threads/$id', params: { id: thread.id } })
    },
    onError: toastProblem,
  })
}

export function useChangeThread(id: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (json: { title?: string; settings?: Thread['settings'] }) =>
      answer(client.api.threads[':id'].$patch({ param: { id }, json })),
    onSuccess: (thread) => {
      queryClient.setQueryData(threadQuery(id).queryKey, thread)
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['threads'] }),
  })
}

export function useDeleteThread(done: (thread: Thread) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id }: Thread) => answer(client.api.threads[':id'].$delete({ param: { id } })),
    onSuccess: (_, thread) => {
      toast.success(`“${threadTitle(thread)}” deleted`)
      done(thread)
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['threads', 'list'] }),
  })
}
