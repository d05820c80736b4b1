import { RotateCcw } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { RunCard } from '../programs/run-card.tsx'
import type { ThreadApproval } from '../queries.ts'
import type { Mode } from '../thread-search.ts'
import { ThreadApprovalCard } from './approval-card.tsx'
import { dataOf } from './chat-message.ts'
import { EmptyThread } from './empty-thread.tsx'
import { AssistantMessage, UserMessage, Working } from './message-view.tsx'
import { SearchCard } from './search-card.tsx'
import type { Entry } from './timeline.ts'
import type { useThreadChat } from './use-thread-chat.ts'

interface TimelineProps {
  threadId: string
  entries: readonly Entry[]
  chat: ReturnType<typeof useThreadChat>
  approvals: ReadonlyMap<string, ThreadApproval>
  mode: Mode
  /** Ids of the programs that this page started. */
  startedRuns: ReadonlySet<string>
  /** Error of the last search or program. */
  problem: Error | null | undefined
  onUse: (call: string) => void
}

export function TimelineView({ threadId, entries, chat, approvals, mode, startedRuns, problem, onUse }: TimelineProps) {
  const end = useStayAtEnd(entries, chat.isBusy)
  const { history } = chat
  const last = chat.messages.at(-1)
  const draw = (entry: Entry): ReactNode => {
    if (entry.kind === 'find') return <SearchCard threadId={threadId} find={entry.find} onUse={onUse} />
    if (entry.kind === 'run')
      return <RunCard listed={entry.run} isOwn={startedRuns.has(entry.run.id)} approvals={approvals} />
    if (entry.message.role === 'user') return <UserMessage message={entry.message} />
    return (
      <AssistantMessage message={entry.message} isLive={chat.isBusy && entry.message === last} approvals={approvals} />
    )
  }
  if (history.isPending) return <LoadingTimeline />
  return (
    <div className="grid flex-1 content-start gap-6 px-4 py-6 sm:px-8 [&>*]:min-w-0">
      {history.error && <ProblemNotice error={history.error} />}
      {history.hasNextPage && (
        <Button size="small" className="justify-self-center" onClick={() => history.fetchNextPage()}>
          {history.isFetchingNextPage ? 'Loading…' : 'Show earlier messages'}
        </Button>
      )}
      {entries.length === 0 && !problem && !chat.error && <EmptyThread mode={mode} />}
      <ol aria-label="What happened in this thread" className="grid gap-6 empty:hidden [&>*]:min-w-0">
        {entries.map((entry) => (
          <li key={entry.key} className="grid [&>*]:min-w-0">
            {draw(entry)}
          </li>
        ))}
      </ol>
      {chat.isWaiting && last?.role === 'user' && <Working />}
      <Unplaced entries={entries} approvals={approvals} isBusy={chat.isBusy} />
      {chat.error && (
        <ProblemNotice error={chat.error}>
          <p className="mt-2">
            <Button size="small" onClick={chat.retry}>
              <RotateCcw aria-hidden /> Try again
            </Button>
          </p>
        </ProblemNotice>
      )}
      {!chat.isBusy && !chat.error && last && <AskAgain onAsk={chat.retry} />}
      {problem && <ProblemNotice error={problem} />}
      <div ref={end} />
    </div>
  )
}

const AskAgain = ({ onAsk }: { onAsk: () => void }) => (
  <Button variant="quiet" size="small" className="-mt-3 -ml-2.5 justify-self-start" onClick={onAsk}>
    <RotateCcw aria-hidden /> Ask again
  </Button>
)

/** Pending approvals of this thread that no message or run shows, because another page started them. */
function Unplaced({ entries, approvals, isBusy }: Pick<TimelineProps, 'entries' | 'approvals'> & { isBusy: boolean }) {
  const last = entries.findLast(({ kind }) => kind === 'message')
  const live = isBusy && last?.kind === 'message' ? dataOf(last.message, 'approval') : []
  const inChat = new Set(live.map(({ approval }) => approval.id))
  const hasPaused = entries.some((entry) => entry.kind === 'run' && entry.run.status === 'paused')
  const waiting = [...approvals.values()].filter(
    ({ id, caller }) => !inChat.has(id) && !(hasPaused && caller.type === 'code'),
  )
  return waiting.map((approval) => <ThreadApprovalCard key={approval.id} approval={approval} />)
}

/** Follows new content while the reader is at the end. */
function useStayAtEnd(entries: readonly Entry[], isBusy: boolean) {
  const end = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const look = () => {
      const { scrollHeight } = document.documentElement
      isAtEnd.current = window.innerHeight + window.scrollY > scrollHeight - 120
    }
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  const count = entries.length
  // A new entry scrolls to the end from any position.
  useEffect(() => {
    if (count > 0) window.scrollTo({ top: document.documentElement.scrollHeight })
  }, [count])
  useEffect(() => {
    const container = end.current?.parentElement
    if (!container || !isBusy) return
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) window.scrollTo({ top: document.documentElement.scrollHeight })
    })
    observer.observe(container)
    return () => observer.disconnect()
  }, [isBusy])
  return end
}

function LoadingTimeline() {
  return (
    <div role="status" className="grid flex-1 content-start gap-6 px-4 py-6 sm:px-8">
      <span className="sr-only">Loading what was said</span>
      <Skeleton className="h-11 w-1/2 justify-self-end rounded-2xl" />
      <Skeleton className="h-24 w-full rounded-xl" />
    </div>
  )
}
