import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ellipsis, MessagesSquare, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Empty } from '../../../ui/data/empty.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Page } from '../../../ui/layout/page.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../../ui/overlay/menu.tsx'
import { type Thread, threadsQuery } from '../queries.ts'
import { threadTitle, useNewThread } from '../use-threads.ts'
import { DeleteThreadDialog, RenameDialog } from './thread-dialogs.tsx'

const NEW_BUTTON = 'new-thread'
const card = 'divide-y overflow-hidden rounded-xl border bg-surface shadow-flat'
const menuId = ({ id }: Thread) => `thread-actions-${id}`

export function ThreadsPage() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(threadsQuery())
  const begin = useNewThread()
  const threads = data?.pages.flatMap(({ items }) => items)
  const newButton = (
    <Button id={NEW_BUTTON} variant="primary" aria-disabled={begin.isPending} onClick={() => begin.mutate('')}>
      <Plus aria-hidden /> New thread
    </Button>
  )
  return (
    <Page
      title="Threads"
      description="Conversations, each with the tools that it carries. Search them, call them, run programs; with a model, chat."
      actions={newButton}
    >
      {error && (
        <ProblemNotice error={error}>
          <p className="mt-2">
            <Button size="small" onClick={() => refetch()}>
              Try again
            </Button>
          </p>
        </ProblemNotice>
      )}
      {!threads && !error && <LoadingThreads />}
      {threads?.length === 0 && (
        <Empty
          icon={MessagesSquare}
          title="No threads yet"
          action={
            <Button variant="primary" aria-disabled={begin.isPending} onClick={() => begin.mutate('')}>
              Begin the first
            </Button>
          }
        >
          A thread carries tools of your servers, and only those that you switch on. In it you find tools as a model
          would, run programs that call them, and chat with a model; each answer shows which tools were chosen and why.
        </Empty>
      )}
      {threads && threads.length > 0 && <ThreadList threads={threads} />}
      {hasNextPage && (
        <Button className="justify-self-center" aria-disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Show older threads'}
        </Button>
      )}
    </Page>
  )
}

type Opened = { thread: Thread; dialog: 'rename' | 'delete' }

function ThreadList({ threads }: { threads: readonly Thread[] }) {
  const [opened, setOpened] = useState<Opened>()
  const byUse = [...threads].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
  const dialog = opened && {
    thread: opened.thread,
    onClose: () => setOpened(undefined),
    onClosed: () => (document.getElementById(menuId(opened.thread)) ?? document.getElementById(NEW_BUTTON))?.focus(),
  }
  return (
    <>
      <ul className={card} aria-label="Threads">
        {byUse.map((thread) => (
          <ThreadRow key={thread.id} thread={thread} onOpen={(which) => setOpened({ thread, dialog: which })} />
        ))}
      </ul>
      {dialog && opened.dialog === 'rename' && <RenameDialog {...dialog} />}
      {dialog && opened.dialog === 'delete' && <DeleteThreadDialog {...dialog} />}
    </>
  )
}

function ThreadRow({ thread, onOpen }: { thread: Thread; onOpen: (dialog: Opened['dialog']) => void }) {
  return (
    <li className="relative flex items-center gap-3 px-4 py-2.5 transition-colors hover:bg-sunken/60 sm:px-5">
      <div className="grid min-w-0 flex-1 gap-0.5 sm:flex sm:items-baseline sm:justify-between sm:gap-4">
        <h2 className="min-w-0 truncate text-[0.9375rem] font-medium">
          <Link
            to="/threads/$id"
            params={{ id: thread.id }}
            className="rounded-sm after:absolute after:inset-0 focus-visible:outline-none after:focus-visible:rounded-lg after:focus-visible:outline-2 after:focus-visible:-outline-offset-2 after:focus-visible:outline-accent"
          >
            {threadTitle(thread)}
          </Link>
        </h2>
        <p className="text-[0.8125rem] text-ink-muted">
          Used <TimeAgo at={thread.updatedAt} />
        </p>
      </div>
      <Menu>
        <MenuTrigger asChild>
          <Button
            id={menuId(thread)}
            variant="quiet"
            size="icon"
            aria-label={`Actions for ${threadTitle(thread)}`}
            className="relative -mr-2 data-[state=open]:bg-sunken"
          >
            <Ellipsis aria-hidden />
          </Button>
        </MenuTrigger>
        <MenuContent>
          <MenuItem onSelect={() => onOpen('rename')}>
            <Pencil aria-hidden /> Rename
          </MenuItem>
          <MenuItem danger onSelect={() => onOpen('delete')}>
            <Trash2 aria-hidden /> Delete
          </MenuItem>
        </MenuContent>
      </Menu>
    </li>
  )
}

function LoadingThreads() {
  return (
    <div role="status" className={card}>
      <span className="sr-only">Loading your threads</span>
      {['w-44', 'w-64', 'w-32', 'w-52'].map((width) => (
        <div key={width} className="flex h-14 items-center justify-between gap-4 px-4 sm:px-5">
          <Skeleton className={`h-4 ${width} max-w-[60%]`} />
          <Skeleton className="h-3.5 w-20" />
        </div>
      ))}
    </div>
  )
}
