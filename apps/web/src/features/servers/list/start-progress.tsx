import { useMutation } from '@tanstack/react-query'
import { answer, client, type Toolkit } from '../../../lib/api.ts'
import { Button } from '../../../ui/form/button.tsx'
import { useToolkitList } from '../use-toolkits.ts'
import { tellProblem } from '../use-tools.ts'

const PHASES = {
  installing: 'Installing',
  starting: 'Starting',
  probing: 'Negotiating the protocol',
  listing: 'Listing tools',
} as const

/** Start phase and last output line of a server, with a cancel button. */
export function StartProgress({ toolkit }: { toolkit: Toolkit }) {
  const list = useToolkitList()
  const { state, uscoId, name } = toolkit
  const cancel = useMutation({
    mutationFn: () => answer(client.api.mcp[':id'].cancel.$post({ param: { id: uscoId } })),
    onSuccess: (found) => list.put(found),
    onError: tellProblem,
  })
  if (state.status !== 'connecting' || state.phase === undefined) return null
  return (
    <div className="mt-1 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <p role="status" className="text-ink-muted">
        {PHASES[state.phase]}…
      </p>
      {state.lastLine && (
        <p className="min-w-0 flex-1 truncate font-mono text-[0.8125rem] text-ink-muted" title={state.lastLine}>
          {state.lastLine}
        </p>
      )}
      <Button
        size="small"
        variant="quiet"
        disabled={cancel.isPending}
        aria-label={`Cancel ${name}`}
        onClick={() => cancel.mutate()}
      >
        Cancel
      </Button>
    </div>
  )
}
