import { useQueryClient } from '@tanstack/react-query'
import { ApprovalCard } from '../../approvals/approval-card.tsx'
import type { Approval } from '../queries.ts'

/** What waits for the user, where it was asked. The answer goes on by itself; what is shown around it is read again. */
export function ThreadApprovalCard({ approval }: { approval: Approval }) {
  const queryClient = useQueryClient()
  const onResolved = () => {
    for (const topic of ['approvals', 'runs', 'threads']) queryClient.invalidateQueries({ queryKey: [topic] })
  }
  return <ApprovalCard approval={approval} onResolved={onResolved} />
}
