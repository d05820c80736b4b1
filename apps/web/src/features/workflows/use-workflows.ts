/** Workflow and run mutations; each updates the cached data with the response. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client, problemOf } from '../../lib/api.ts'
import type { Definition } from './definition/definition.ts'
import { type Run, runQuery, type Workflow, workflowQuery } from './queries.ts'

type Body = Parameters<typeof client.api.workflows.$post>[0]['json']

export function useSaveWorkflow(id: string | undefined) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ definition, version }: { definition: Definition; version: number | undefined }) => {
      const json = definition as unknown as Body
      // `baseVersion` prevents overwriting a newer version.
      const query = version === undefined ? {} : { baseVersion: String(version) }
      const saved = id
        ? await answer(client.api.workflows[':id'].$put({ param: { id }, query, json }))
        : await answer(client.api.workflows.$post({ json }))
      return saved as unknown as Workflow
    },
    onSuccess: (saved) => {
      queryClient.setQueryData(workflowQuery(saved.id).queryKey, saved)
      toast.success(`${saved.name} saved`, { description: `It is version ${saved.version}.` })
      return queryClient.invalidateQueries({ queryKey: ['workflows'] })
    },
    onError: (error) => {
      if (id && problemOf(error).status === 409) void queryClient.invalidateQueries(workflowQuery(id))
    },
  })
}

export function useDeleteWorkflow(done: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id }: Workflow) => answer(client.api.workflows[':id'].$delete({ param: { id } })),
    onSuccess: async (_, { name }) => {
      toast.success(`${name} deleted`, { description: 'Its runs stay.' })
      await queryClient.invalidateQueries({ queryKey: ['workflows', 'list'] })
      done()
    },
  })
}

/** Validates a definition; for a stored one, also runs the preflight check. */
export function useCheckWorkflow() {
  return useMutation({
    mutationFn: async ({ definition, storedId }: { definition: Definition; storedId: string | undefined }) => {
      const { errors } = await answer(client.api.workflows.validate.$post({ json: definition as unknown as Body }))
      if (errors.length > 0 || storedId === undefined) return { errors, preflight: undefined }
      const preflight = await answer(client.api.workflows[':id'].check.$post({ param: { id: storedId }, json: {} }))
      return { errors, preflight }
    },
  })
}

export type Checked = NonNullable<ReturnType<typeof useCheckWorkflow>['data']>

/** Starts a run without waiting for it. */
export function useStartRun() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ workflowId, input }: { workflowId: string; input: unknown }) => {
      const json = { workflowId, input, wait: false }
      return answer(client.api.workflow.invoke.$post({ header: {}, json: json as never }))
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['runs', 'list'] }),
  })
}

export function useRerun(run: Run) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (from: string) =>
      answer(
        client.api.runs[':id'].rerun.$post({ header: {}, param: { id: run.id }, json: { from, wait: false } as never }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['runs', 'list'] }),
  })
}

export function useCancelRun(id: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => answer(client.api.runs[':id'].cancel.$post({ param: { id } })),
    onSuccess: (run) => {
      queryClient.setQueryData(runQuery(id).queryKey, run as unknown as Run)
      return queryClient.invalidateQueries({ queryKey: ['runs'] })
    },
  })
}

/** Resolves a step with an unknown outcome. */
export function useResolveStep(id: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ step, decision }: { step: string; decision: 'repeat' | 'fail' }) =>
      answer(client.api.runs[':id'].steps[':step'].$post({ param: { id, step }, json: { decision } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
}
