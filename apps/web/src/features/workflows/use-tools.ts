/** Selectable tools by server, and their refresh. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client, problemOf, type Toolkit, toolkitsQuery, wholeToolkitsQuery } from '../../lib/api.ts'
import type { JsonObject } from './definition/definition.ts'
import type { OutputSchemas } from './definition/suggestions.ts'

export type WorkflowTool = Toolkit['tools'][number]

export interface Tools {
  toolkits: readonly Toolkit[]
  isLoading: boolean
  error: Error | null
  find: (ref: string) => WorkflowTool | undefined
  schemas: OutputSchemas
}

export function useTools(): Tools {
  const { data = [], isLoading, error } = useQuery(wholeToolkitsQuery())
  const byRef = new Map(data.flatMap(({ tools }) => tools.map((tool) => [tool.ref, tool] as const)))
  return {
    toolkits: data,
    isLoading,
    error,
    find: (ref) => byRef.get(ref),
    schemas: (ref) => byRef.get(ref)?.outputSchema as JsonObject | undefined,
  }
}

export function useRefreshServerTools() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ uscoId }: Toolkit) =>
      answer(client.api.mcp[':id'].introspect.$post({ param: { id: uscoId }, query: { reconnect: 'true' } })),
    onSuccess: async (fresh) => {
      await queryClient.invalidateQueries({ queryKey: toolkitsQuery().queryKey })
      if (fresh.state.status === 'error')
        toast.error(`${fresh.name} could not be looked at`, { description: fresh.state.reason })
      else toast.success(`${fresh.name} has ${fresh.toolCount} ${fresh.toolCount === 1 ? 'tool' : 'tools'}`)
    },
    onError: (error) => {
      const { title, detail, action } = problemOf(error)
      toast.error(title, { description: `${detail} ${action}` })
    },
  })
}
