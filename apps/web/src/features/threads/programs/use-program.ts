import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../../lib/api.ts'
import { threadRunsQuery } from '../queries.ts'

/** Starts programs and tracks which runs this page started. */
export function useProgram(threadId: string) {
  const queryClient = useQueryClient()
  const [startedRuns, setStartedRuns] = useState<ReadonlySet<string>>(new Set())
  const start = useMutation({
    mutationFn: (program: string) =>
      answer(
        client.api.threads[':id'].run.$post({
          param: { id: threadId },
          json: { program, language: 'typescript', wait: false },
        }),
      ),
    onSuccess: (run) => {
      setStartedRuns((old) => new Set(old).add(run.id))
      queryClient.setQueryData(threadRunsQuery(threadId).queryKey, (old) => [
        run,
        ...(old ?? []).filter(({ id }) => id !== run.id),
      ])
    },
  })
  return { startedRuns, start }
}
