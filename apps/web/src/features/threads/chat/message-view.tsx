import { ChevronRight, LoaderCircle } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { counted } from '../../../ui/data/format-time.ts'
import { formatSelectedBy, SelectedList } from '../panel/selected-tools.tsx'
import type { ThreadApproval } from '../queries.ts'
import {
  type ChatMessage,
  type ChatPart,
  type ChosenTools,
  dataOf,
  messageText,
  type ResponseUsage,
} from './chat-message.ts'
import { RichText } from './rich-text.tsx'
import { ToolCall } from './tool-call.tsx'

export function UserMessage({ message }: { message: ChatMessage }) {
  return (
    <article
      aria-label="You"
      className="justify-self-end rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 sm:max-w-[85%]"
    >
      <p className="wrap-anywhere whitespace-pre-wrap">{messageText(message)}</p>
    </article>
  )
}

interface AnswerProps {
  message: ChatMessage
  /** Whether the response is still streaming. */
  isLive: boolean
  /** Pending approvals by id; the approvals in a message may be outdated. */
  approvals: ReadonlyMap<string, ThreadApproval>
}

export function AssistantMessage({ message, isLive, approvals }: AnswerProps) {
  const selection = dataOf(message, 'selection').at(-1)
  const usage = dataOf(message, 'usage').at(-1)
  const approvalByCall = new Map(dataOf(message, 'approval').map(({ toolCallId, approval }) => [toolCallId, approval]))
  const refs = new Map(selection?.tools.map(({ modelName, ref }) => [modelName, ref]))
  const draw = (part: ChatPart): ReactNode => {
    if (part.type === 'text') return part.text && <RichText text={part.text} />
    if (part.type === 'reasoning') return part.text && <Reasoning text={part.text} />
    if (part.type !== 'dynamic-tool') return null
    const approval = approvalByCall.get(part.toolCallId)
    const isPending = isLive && approval !== undefined && approvals.has(approval.id)
    return <ToolCall part={part} toolRef={refs.get(part.toolName)} approval={approval} state={{ isPending, isLive }} />
  }
  return (
    <article aria-label="Answer" aria-busy={isLive} className="grid gap-3 [&>*]:min-w-0">
      {message.parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended, so the index is stable
        <Fragment key={index}>{draw(part)}</Fragment>
      ))}
      {isLive && <Working />}
      {(selection || usage) && <AnswerFacts selection={selection} usage={usage} model={message.metadata?.model} />}
    </article>
  )
}

export function Working() {
  return (
    <p role="status" className="flex items-center gap-2 text-[0.8125rem] text-busy">
      <LoaderCircle aria-hidden className="size-3.5 motion-safe:animate-spin" /> Working
    </p>
  )
}

function Reasoning({ text }: { text: string }) {
  return (
    <details className="text-sm text-ink-muted">
      <summary className="w-fit cursor-pointer rounded-sm">What it thought</summary>
      <p className="mt-1 border-l-2 pl-3 wrap-anywhere whitespace-pre-wrap">{text}</p>
    </details>
  )
}

const STOPPED: Record<string, string> = {
  'max-steps': 'ended at its most steps',
  budget: 'ended at its budget of tokens',
  limit: 'ended at a limit of tokens',
  length: 'cut off: as long as the model answers at most',
  refused: 'the model refused to answer',
}

function AnswerFacts({
  selection,
  usage,
  model,
}: {
  selection: ChosenTools | undefined
  usage: ResponseUsage | undefined
  model: string | undefined
}) {
  const facts = [
    usage?.totalTokens !== undefined && `${counted(usage.totalTokens, 'token')} used`,
    usage && usage.steps > 1 && counted(usage.steps, 'step'),
    usage && STOPPED[usage.stopped],
    model,
  ].filter(Boolean)
  const summary = facts.join(' · ')
  if (!selection) return <p className="text-[0.8125rem] text-ink-muted">{summary}</p>
  return (
    <details className="group text-[0.8125rem] text-ink-muted" data-selection>
      <summary className="flex w-fit max-w-full cursor-pointer list-none flex-wrap items-center gap-x-1.5 rounded-sm [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
        <span className="font-medium">{formatSelectedBy(selection)}</span>
        {summary && (
          <span className="wrap-anywhere max-sm:pl-5">
            <span aria-hidden className="max-sm:hidden">
              ·{' '}
            </span>
            {summary}
          </span>
        )}
      </summary>
      <div className="mt-2">
        <SelectedList chosen={selection} />
      </div>
    </details>
  )
}
