/** Operator mutations; each refreshes the affected queries. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client } from '../../../lib/api.ts'
import { ifUnchanged } from '../../../lib/external-change.tsx'
import { toastProblem } from '../../../lib/problems.tsx'
import { type AppConfigPatch, type AppToolkit, appConfigQuery, appToolkitsQuery, type PolicyRule } from '../queries.ts'

type ToolkitRecord = Parameters<typeof client.api.app.toolkits.$post>[0]['json']

function useRefresh(...keys: string[][]) {
  const queryClient = useQueryClient()
  return () => Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}

interface SavingApp {
  json: ToolkitRecord
  /** Whether the stored toolkit is still what the draft started with. */
  isSeen: (now: AppToolkit) => boolean
}

export function useSaveAppToolkit(toolkit: AppToolkit | undefined) {
  const queryClient = useQueryClient()
  const refresh = useRefresh(['app'], ['toolkits'])
  return useMutation({
    mutationFn: async ({ json, isSeen }: SavingApp): Promise<AppToolkit> => {
      if (!toolkit) return answer(client.api.app.toolkits.$post({ json }))
      const param = { id: toolkit.uscoId }
      const headers = await ifUnchanged<AppToolkit>({
        reading: client.api.app.toolkits[':id'].$get({ param }),
        isSeen,
        onNews: (now) => {
          queryClient.setQueryData(appToolkitsQuery().queryKey, (old) =>
            old ? { ...old, toolkits: old.toolkits.map((item) => (item.uscoId === now.uscoId ? now : item)) } : old,
          )
        },
      })
      return answer(client.api.app.toolkits[':id'].$patch({ param, json }, { headers }))
    },
    onSuccess: (saved) => {
      const isBroken = saved.state.status === 'error'
      const tell = isBroken ? toast.warning : toast.success
      tell(`${saved.name} ${toolkit ? 'saved' : 'added'}`, {
        description: isBroken ? saved.state.reason : saved.warnings?.join(' '),
      })
    },
    onSettled: refresh,
  })
}

export function useSwitchAppToolkit() {
  const queryClient = useQueryClient()
  const refresh = useRefresh(['app'], ['toolkits'])
  return useMutation({
    mutationFn: ({ toolkit, enabled }: { toolkit: AppToolkit; enabled: boolean }) =>
      answer(client.api.app.toolkits[':id'].$patch({ param: { id: toolkit.uscoId }, json: { enabled } })),
    // Optimistic update; the response or the refetched list replaces it.
    onMutate: ({ toolkit, enabled }) => {
      queryClient.setQueryData(appToolkitsQuery().queryKey, (old) =>
        old
          ? {
              ...old,
              toolkits: old.toolkits.map((item) => (item.uscoId === toolkit.uscoId ? { ...item, enabled } : item)),
            }
          : old,
      )
    },
    onError: toastProblem,
    onSettled: refresh,
  })
}

export function useDeleteAppToolkit(done: () => void) {
  const refresh = useRefresh(['app'], ['toolkits'])
  return useMutation({
    mutationFn: ({ uscoId }: AppToolkit) => answer(client.api.app.toolkits[':id'].$delete({ param: { id: uscoId } })),
    onSuccess: (_, { name }) => {
      toast.success(`${name} deleted`)
      done()
    },
    onSettled: refresh,
  })
}

export function useChangeConfig() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (json: AppConfigPatch) => answer(client.api.app.config.$patch({ json })),
    onSuccess: (config) => {
      queryClient.setQueryData(appConfigQuery().queryKey, config)
      toast.success('Saved')
    },
  })
}

export function useSetPolicy() {
  const refresh = useRefresh(['app', 'policy'], ['tools'])
  return useMutation({
    mutationFn: (rules: PolicyRule[]) =>
      answer(client.api.policy.$put({ json: { rules: rules as unknown as Record<string, unknown>[] } as never })),
    onSuccess: () => {
      toast.success('Rules saved')
      return refresh()
    },
  })
}

export function useAppKey(provider: string, name: string) {
  const refresh = useRefresh(['models'])
  const param = { provider }
  const save = useMutation({
    mutationFn: (key: string) => answer(client.api.app.models[':provider'].key.$put({ param, json: { key } })),
    onSuccess: () => {
      toast.success(`The key for ${name} is saved`)
      return refresh()
    },
  })
  const clear = useMutation({
    mutationFn: () => answer(client.api.app.models[':provider'].key.$delete({ param })),
    onSuccess: () => {
      toast.success(`The key for ${name} is gone`)
      return refresh()
    },
    onError: toastProblem,
  })
  return { save, clear }
}
