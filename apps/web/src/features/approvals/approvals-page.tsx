import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { CircleCheckBig } from 'lucide-react'
import { useId } from 'react'
import { toolkitsQuery } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Empty } from '../../ui/data/empty.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { ApprovalHistory } from './answered-list.tsx'
import { ApprovalCard, cardId } from './approval-card.tsx'
import { useApprovalKeys } from './approval-keys.ts'
import { InputCard, inputId } from './input-card.tsx'
import { type Approval, inputsQuery, pendingApprovalsQuery, type ServerInput } from './queries.ts'

const WAITING = 'waiting'

export function ApprovalsPage() {
  return (
    <Page
      title="Approvals"
      description="Calls that need your yes, and what servers ask you in the middle of one. Nothing goes on before you answer."
      actions={<KeysSwitch />}
    >
      <Inbox />
    </Page>
  )
}

function KeysSwitch() {
  const [on, set] = useApprovalKeys()
  const id = useId()
  return (
    <div className="flex items-center gap-2.5 text-sm">
      <Switch id={id} checked={on} onCheckedChange={set} />
      <label htmlFor={id}>Answer with Y and N</label>
    </div>
  )
}

/** The history appears once the pending cards are loaded, so that the layout does not shift. */
function Inbox() {
  const approvals = useQuery(pendingApprovalsQuery())
  const inputs = useQuery(inputsQuery())
  const toolkits = useQuery(toolkitsQuery())
  // A card without its toolkit would show every risk as unknown.
  const isPending = approvals.isPending || inputs.isPending || toolkits.isPending
  return (
    <>
      <Waiting approvals={approvals} inputs={inputs} isPending={isPending} />
      <div hidden={isPending}>
        <ApprovalHistory />
      </div>
    </>
  )
}

interface WaitingProps {
  approvals: UseQueryResult<Approval[]>
  inputs: UseQueryResult<ServerInput[]>
  isPending: boolean
}

function Waiting({ approvals, inputs, isPending }: WaitingProps) {
  const error = approvals.error ?? inputs.error
  const count = (approvals.data?.length ?? 0) + (inputs.data?.length ?? 0)
  const cards = [...(inputs.data ?? []).map(inputId), ...(approvals.data ?? []).map(cardId)]
  // A resolved card disappears, so the focus moves to the next one.
  const focusNext = (from: string) => {
    const at = cards.indexOf(from)
    const next = cards[at + 1] ?? cards[at - 1] ?? WAITING
    document.getElementById(next)?.focus()
  }
  return (
    <section aria-labelledby={WAITING} className="grid gap-3">
      <h2
        id={WAITING}
        tabIndex={-1}
        className="flex items-baseline gap-2 font-semibold tracking-tight focus:outline-none"
      >
        Waiting for you
        {count > 0 && <span className="text-sm font-normal text-ink-faint tabular-nums">{count}</span>}
      </h2>
      <p role="status" className="sr-only">
        {isPending ? 'Loading what waits' : `${count} waiting for you`}
      </p>
      {error && <LoadFailed error={error} onRetry={() => [approvals, inputs].map((query) => query.refetch())} />}
      {isPending && !error && <LoadingCards />}
      {!isPending && !error && count === 0 && <NothingWaits />}
      {!isPending &&
        inputs.data
          ?.toReversed()
          .map((input) => <InputCard key={input.id} input={input} onResolved={() => focusNext(inputId(input))} />)}
      {!isPending &&
        approvals.data?.map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} onResolved={() => focusNext(cardId(approval))} />
        ))}
    </section>
  )
}

function LoadFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <ProblemNotice error={error}>
      <Button size="small" className="mt-1 w-fit" onClick={onRetry}>
        Try again
      </Button>
    </ProblemNotice>
  )
}

const NothingWaits = () => (
  <Empty icon={CircleCheckBig} title="Nothing waits for you">
    When a tool may change or destroy something, or a rule says so, its call stops here until you allow or deny it. The
    answer can hold once, for a conversation, or always.
  </Empty>
)

const LoadingCards = () => (
  <div aria-hidden className="grid gap-3">
    {['w-40', 'w-56'].map((width) => (
      <div key={width} className="grid gap-3 rounded-xl border bg-surface p-5 shadow-flat">
        <Skeleton className={`h-4 ${width}`} />
        <Skeleton className="h-16 w-full rounded-lg" />
        <Skeleton className="h-8 w-48 rounded-lg" />
      </div>
    ))}
  </div>
)
