import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Handshake } from 'lucide-react'
import { toast } from 'sonner'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice, toastProblem } from '../../lib/problems.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Empty } from '../../ui/data/empty.tsx'
import { TimeAgo } from '../../ui/data/time-ago.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Loading, Section } from '../operator/section.tsx'
import { grantsQuery, type SavedPermission } from './queries.ts'

/** Saved permissions, which can be revoked. */
export function PermissionsTab() {
  const { data: grants, error } = useQuery(grantsQuery())
  if (error && !grants) return <ProblemNotice error={error} />
  if (!grants) return <Loading label="Loading remembered answers" />
  if (grants.length === 0)
    return (
      <Empty icon={Handshake} title="No remembered answers">
        When you answer an approval you can have the answer remembered, for a thread, a tool or a whole server. Such
        answers stand here, and can be taken back.
      </Empty>
    )
  return (
    <Section title="Remembered answers" note="Taken back, the next call is asked about again.">
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {grants.map((grant) => (
          <GrantRow key={grant.id} grant={grant} />
        ))}
      </ul>
    </Section>
  )
}

function GrantRow({ grant }: { grant: SavedPermission }) {
  const queryClient = useQueryClient()
  const { queryKey } = grantsQuery()
  const revoke = useMutation({
    mutationFn: () => answer(client.api.grants[':id'].$delete({ param: { id: grant.id } })),
    onSuccess: () => {
      queryClient.setQueryData(queryKey, (old) => old?.filter(({ id }) => id !== grant.id))
      toast.success(`The answer about ${grant.ref} is taken back`)
    },
    onError: toastProblem,
  })
  const isAllowed = grant.decision === 'allow'
  const Icon = isAllowed ? CircleCheck : CircleX
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 py-2.5 sm:px-5">
      <span
        className={
          isAllowed ? 'flex items-center gap-1.5 text-sm text-good' : 'flex items-center gap-1.5 text-sm text-bad'
        }
      >
        <Icon aria-hidden className="size-4" /> {isAllowed ? 'Allowed' : 'Denied'}
      </span>
      <code className="min-w-0 font-mono text-[0.8125rem] wrap-anywhere">{grant.ref}</code>
      <Badge>{grant.threadId ? 'One thread' : grant.target === 'toolkit' ? 'All of the server' : 'This tool'}</Badge>
      {grant.void && <Badge title="What it was given for has changed">Void</Badge>}
      <span className="text-[0.8125rem] text-ink-muted">
        <TimeAgo at={grant.createdAt} />
      </span>
      <Button
        size="small"
        className="ml-auto"
        aria-label={`Take back the answer about ${grant.ref}`}
        aria-disabled={revoke.isPending}
        onClick={() => !revoke.isPending && revoke.mutate()}
      >
        Take back
      </Button>
    </li>
  )
}
