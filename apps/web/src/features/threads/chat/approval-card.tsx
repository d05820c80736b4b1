import { useQueryClient } from '@tanstack/react-query'
import { ApprovalCard } from '../../approvals/approval-card.tsx'
import type { ThreadApproval } from '../queries.ts'

/** Approval request inside a thread. Resolving it refreshes the queries around it. */
export function ThreadApprovalCard({ approval }: { approval: ThreadApproval }) {
  const queryClient = useQueryClient()
  const onResolved = () => {
    for (const topic of ['approvals', 'runs', 'threads']) queryClient.invalidateQueries({ queryKey: [topic] })
  }
  return <ApprovalCard approval={approval} onResolved={onResolved} />
}
