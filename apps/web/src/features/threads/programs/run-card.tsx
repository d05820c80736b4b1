import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Square } from 'lucide-react'
import { useState } from 'react'
import { answer, client } from '../../../lib/api.ts'
import { ProblemNotice, toastProblem } from '../../../lib/problems.tsx'
import { formatDuration } from '../../../ui/data/format-time.ts'
import { JsonView } from '../../../ui/data/json-view.tsx'
import { Notice } from '../../../ui/data/notice.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { SignInOffer } from '../../workflows/editor/sign-in-offer.tsx'
import { signInRefs } from '../../workflows/editor/sign-in-refs.ts'
import { ThreadApprovalCard } from '../chat/approval-card.tsx'
import { type Chip, StatusChip } from '../chat/status-chip.tsx'
import { isOver, type ThreadApproval, type ThreadRun, threadRunQuery } from '../queries.ts'
import { ProgramSteps } from './program-steps.tsx'

const STATES: Record<ThreadRun['status'], { chip: Chip; label: string }> = {
  queued: { chip: 'waiting', label: 'Queued' },
  running: { chip: 'busy', label: 'Running' },
  paused: { chip: 'asked', label: 'Waits for you' },
  completed: { chip: 'done', label: 'Done' },
  failed: { chip: 'failed', label: 'Failed' },
  cancelled: { chip: 'off', label: 'Cancelled' },
  'outcome-unknown': { chip: 'unknown', label: 'Outcome unknown' },
}

interface RunCardProps {
  /** The run from the list, without steps. */
  listed: ThreadRun
  /** Whether this page started the run. */
  isOwn: boolean
  approvals: ReadonlyMap<string, ThreadApproval>
}

/** A program run with steps, approvals, log and value. Earlier finished runs are folded. */
export function RunCard({ listed, isOwn, approvals }: RunCardProps) {
  const [open, setOpen] = useState(isOwn || !isOver(listed))
  const { data, error } = useQuery({ ...threadRunQuery(listed.id), enabled: open })
  const run = data ?? listed
  return (
    <article aria-label="Program" className="grid gap-3 rounded-xl border bg-surface p-3.5 shadow-flat [&>*]:min-w-0">
      <header className="flex min-h-8 flex-wrap items-center gap-2">
        <h2 className="text-sm font-medium">Program</h2>
        <span aria-live="polite">
          <RunState run={run} />
        </span>
        <RunFacts run={run} />
        {!isOver(run) && <CancelRun id={run.id} />}
        {isOver(run) && (
          <Button variant="quiet" size="small" className="ml-auto" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Fold' : 'Show'}
          </Button>
        )}
      </header>
      {open && run.program && <ProgramText text={run.program} />}
      {open && error && <ProblemNotice error={error} />}
      {open && data && <RunBody run={data} approvals={approvals} />}
      {open && !data && !error && <Skeleton className="h-8 w-full" />}
    </article>
  )
}

const RunState = ({ run }: { run: ThreadRun }) => (
  <StatusChip chip={STATES[run.status].chip}>{STATES[run.status].label}</StatusChip>
)

function RunFacts({ run }: { run: ThreadRun }) {
  const took = isOver(run) && formatDuration(new Date(run.updatedAt).getTime() - new Date(run.createdAt).getTime())
  return (
    <span className="text-xs text-ink-muted">
      <time dateTime={run.createdAt}>{new Date(run.createdAt).toLocaleString()}</time>
      {took && ` · ${took}`}
    </span>
  )
}

function RunBody({ run, approvals }: { run: ThreadRun; approvals: ReadonlyMap<string, ThreadApproval> }) {
  const pending = run.steps.flatMap(({ approvalId }) => approvals.get(approvalId ?? '') ?? [])
  const wantsSignIn = signInRefs(run)
  return (
    <>
      {run.steps.length > 0 && <ProgramSteps run={run} />}
      {run.status === 'paused' &&
        pending.map((approval) => <ThreadApprovalCard key={approval.id} approval={approval} />)}
      {run.logs.length > 0 && (
        <JsonView
          label="Log"
          value={run.logs.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n')}
        />
      )}
      {run.status === 'completed' && <JsonView label="Value" value={run.output ?? null} />}
      {run.error && (
        <Notice
          title="The program ended with an error"
          detail={run.error.message}
          action={wantsSignIn.length > 0 ? 'Sign in, then run it again.' : (run.error.action ?? '')}
        >
          <SignInOffer refs={wantsSignIn} />
        </Notice>
      )}
      {run.warnings?.map((warning) => (
        <p key={warning} className="text-[0.8125rem] wrap-anywhere text-ink-muted">
          {warning}
        </p>
      ))}
    </>
  )
}

function ProgramText({ text }: { text: string }) {
  return (
    <details className="text-[0.8125rem] text-ink-muted">
      <summary className="w-fit cursor-pointer rounded-sm">Its text</summary>
      <div className="mt-1">
        <JsonView label="TypeScript" value={text} />
      </div>
    </details>
  )
}

function CancelRun({ id }: { id: string }) {
  const queryClient = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => answer(client.api.runs[':id'].cancel.$post({ param: { id } })),
    onSuccess: (run) => queryClient.setQueryData(threadRunQuery(id).queryKey, run),
    onError: toastProblem,
  })
  return (
    <Button size="small" className="ml-auto" aria-disabled={cancel.isPending} onClick={() => cancel.mutate()}>
      <Square aria-hidden /> {cancel.isPending ? 'Cancelling…' : 'Cancel'}
    </Button>
  )
}
