/** User mutations of operators. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client } from '../../../lib/api.ts'
import { toastProblem } from '../../../lib/problems.tsx'
import type { User } from '../queries.ts'

function useRefresh() {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: ['users'] })
}

export function useInvite() {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: (json: { email: string; name?: string; operator: boolean }) => answer(client.api.users.$post({ json })),
    onSuccess: refresh,
  })
}

export function useChangeUser() {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: ({ user, ...json }: { user: User; operator?: boolean; disabled?: boolean; name?: string }) =>
      answer(client.api.users[':id'].$patch({ param: { id: user.id }, json })),
    onSuccess: ({ name, operator, disabled }) => {
      const status = disabled ? 'is disabled' : operator ? 'is an operator' : 'is a user'
      toast.success(`${name} ${status}`)
    },
    onError: toastProblem,
    onSettled: refresh,
  })
}

export function useMakeLink() {
  return useMutation({
    mutationFn: ({ id }: User) => answer(client.api.users[':id'].link.$post({ param: { id } })),
    onError: toastProblem,
  })
}

export function useSignOutUser() {
  return useMutation({
    mutationFn: ({ id }: User) => answer(client.api.users[':id'].sessions.$delete({ param: { id } })),
    onSuccess: (_, { name }) => toast.success(`${name} is signed out everywhere`),
    onError: toastProblem,
  })
}

export function useRemoveUser(done: () => void) {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: ({ id }: User) => answer(client.api.users[':id'].$delete({ param: { id } })),
    onSuccess: (_, { name }) => {
      toast.success(`${name} is gone, with all that was theirs`)
      done()
    },
    onSettled: refresh,
  })
}
