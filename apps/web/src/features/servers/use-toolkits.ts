/** Toolkit mutations; each updates the cached list with the response. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client, problemOf, type Toolkit, type ToolkitBody, toolkitsQuery } from '../../lib/api.ts'
import { ifUnchanged } from '../../lib/external-change.tsx'
import { counted } from '../../ui/data/format-time.ts'

export const byId = (toolkit: Toolkit) => ({ param: { id: toolkit.uscoId } })

interface Saving {
  json: ToolkitBody
  /** Whether the stored toolkit is still what the draft started with. */
  isSeen: (now: Toolkit) => boolean
  /** Aborts the request. */
  signal: AbortSignal
  /** Whether the form is mounted and shows failures itself. */
  isMounted: () => boolean
}

export function useSaveToolkit(toolkit: Toolkit | undefined) {
  const list = useToolkitList()
  return useMutation({
    mutationFn: async ({ json, isSeen, signal }: Saving): Promise<Toolkit & { warnings?: string[] | undefined }> => {
      const init = { signal }
      if (!toolkit) return answer(client.api.mcp.$post({ json }, { init }))
      const reading = client.api.mcp[':id'].$get(byId(toolkit), { init })
      const headers = await ifUnchanged<Toolkit>({ reading, isSeen, onNews: list.put })
      return answer(client.api.mcp[':id'].$patch({ ...byId(toolkit), json }, { headers, init }))
    },
    onSuccess: (saved, { isMounted }) => {
      list.put(saved)
      const { status } = saved.state
      if (status === 'error' && !isMounted()) toast.error(`${saved.name} could not be reached`)
      if (status !== 'error' && status !== 'sign-in-needed')
        toast.success(`${saved.name} ${toolkit ? 'saved' : 'added'}`, { description: formatSaveDescription(saved) })
    },
    onError: (error, { signal, isMounted }) => {
      const { title, detail, action } = problemOf(error)
      if (!signal.aborted && !isMounted()) toast.error(title, { description: `${detail} ${action}` })
    },
    onSettled: list.refresh,
  })
}

const formatSaveDescription = ({ toolCount, warnings = [] }: Toolkit & { warnings?: string[] | undefined }) =>
  [toolCount > 0 ? `${counted(toolCount, 'tool')}.` : '', ...warnings].join(' ').trim() || undefined

export function useSwitchToolkit() {
  const list = useToolkitList()
  return useMutation({
    mutationFn: ({ toolkit, enabled }: { toolkit: Toolkit; enabled: boolean }) =>
      answer(client.api.mcp[':id'].$patch({ ...byId(toolkit), json: { enabled } })),
    // Optimistic update; the response or the previous value replaces it.
    onMutate: ({ toolkit, enabled }) => list.put({ ...toolkit, enabled }),
    onSuccess: (saved, { enabled }) => {
      list.put(saved)
      if (saved.enabled !== enabled)
        toast.error(`${saved.name} stays off`, { description: 'The operator has switched it off for everyone.' })
    },
    onError: (error, { toolkit }) => {
      list.put(toolkit)
      const { title, detail, action } = problemOf(error)
      toast.error(title, { description: `${detail} ${action}` })
    },
    onSettled: list.refresh,
  })
}

export function useDeleteToolkit(done: () => void) {
  const list = useToolkitList()
  return useMutation({
    mutationFn: (toolkit: Toolkit) => answer(client.api.mcp[':id'].$delete(byId(toolkit))),
    onSuccess: (_, toolkit) => {
      list.remove(toolkit)
      toast.success(`${toolkit.name} deleted`)
      done()
    },
    onSettled: list.refresh,
  })
}

export function useToolkitList() {
  const queryClient = useQueryClient()
  const { queryKey } = toolkitsQuery()
  const change = (to: (old: Toolkit[]) => Toolkit[]) => queryClient.setQueryData(queryKey, (old) => old && to(old))
  const isSame = (a: Toolkit) => (b: Toolkit) => a.uscoId === b.uscoId
  return {
    put: (toolkit: Toolkit) => {
      change((old) =>
        old.some(isSame(toolkit)) ? old.map((other) => (isSame(toolkit)(other) ? toolkit : other)) : [...old, toolkit],
      )
    },
    remove: (toolkit: Toolkit) => {
      change((old) => old.filter((other) => !isSame(toolkit)(other)))
    },
    refresh: () => queryClient.invalidateQueries({ queryKey }),
  }
}
