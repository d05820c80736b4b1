import { ChevronRight } from 'lucide-react'
import { JsonView } from '../../../ui/data/json-view.tsx'
import { SignInOffer } from '../../workflows/editor/sign-in-offer.tsx'
import type { ThreadApproval } from '../queries.ts'
import { ThreadApprovalCard } from './approval-card.tsx'
import type { ToolPart } from './chat-message.ts'
import { ResultView } from './result-view.tsx'
import { type Chip, StatusChip } from './status-chip.tsx'

interface ToolCallProps {
  part: ToolPart
  /** Tool ref, if the selection contains it. */
  toolRef: string | undefined
  approval: ThreadApproval | undefined
  state: CallContext
}

interface CallContext {
  /** Whether the call waits for approval. */
  isPending: boolean
  /** Whether the response is still streaming. */
  isLive: boolean
}

/** One call of a response; unfolded, it shows arguments and result. */
export function ToolCall({ part, toolRef, approval, state }: ToolCallProps) {
  const { chip, label } = callState(part, state)
  return (
    <div className="grid gap-2">
      <details className="group rounded-lg border bg-raised" data-tool-call={toolRef ?? part.toolName}>
        <summary className="flex min-h-9 cursor-pointer list-none items-center gap-2 rounded-lg px-2.5 py-1 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="size-4 shrink-0 text-ink-faint transition-transform group-open:rotate-90"
          />
          <code className="min-w-0 flex-1 truncate font-mono text-[0.8125rem]">{toolRef ?? part.toolName}</code>
          <StatusChip chip={chip}>{label}</StatusChip>
        </summary>
        <div className="grid gap-3 border-t p-3">
          <JsonView label="Arguments" value={part.input ?? {}} />
          {part.state === 'output-available' && <ResultView output={part.output} />}
          {part.state === 'output-error' && <JsonView label="Error" value={part.errorText} />}
          {approval && approval.status !== 'pending' && (
            <p className="text-[0.8125rem] text-ink-muted">
              It was asked about, and {approval.status}. {approval.reason}
            </p>
          )}
        </div>
      </details>
      {toolRef && label === SIGN_IN && <SignInOffer refs={[toolRef]} />}
      {state.isPending && approval && <ThreadApprovalCard approval={approval} />}
    </div>
  )
}

const SIGN_IN = 'Sign-in needed'
const OUTCOMES: Record<string, { chip: Chip; label: string }> = {
  ok: { chip: 'done', label: 'Done' },
  'tool-error': { chip: 'failed', label: 'The tool failed' },
  denied: { chip: 'off', label: 'Denied' },
  limited: { chip: 'failed', label: 'Limit reached' },
  'sign-in-needed': { chip: 'asked', label: SIGN_IN },
  failed: { chip: 'failed', label: 'Failed' },
}

export function callState(
  part: Pick<ToolPart, 'state'> & { output?: unknown },
  { isPending, isLive }: CallContext,
): { chip: Chip; label: string } {
  if (part.state === 'output-error') return { chip: 'failed', label: 'Failed' }
  if (part.state === 'output-denied') return { chip: 'off', label: 'Denied' }
  if (part.state === 'output-available') {
    const status = (part.output as { status?: unknown } | null)?.status
    return OUTCOMES[typeof status === 'string' ? status : 'ok'] ?? { chip: 'done', label: 'Done' }
  }
  if (isPending) return { chip: 'asked', label: 'Waits for you' }
  if (!isLive) return { chip: 'off', label: 'Given up' }
  return part.state === 'input-streaming' ? { chip: 'busy', label: 'Preparing' } : { chip: 'busy', label: 'Running' }
}
