import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeft, Ellipsis, Eraser, Pencil, Trash2, Wrench } from 'lucide-react'
import { useEffect, useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Confirm } from '../../ui/overlay/alert-dialog.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/overlay/menu.tsx'
import { Sheet } from '../../ui/overlay/sheet.tsx'
import { isNotFound, NotFound } from '../shell/not-found.tsx'
import { Conversation } from './chat/conversation.tsx'
import { DeleteThreadDialog, RenameDialog } from './list/thread-dialogs.tsx'
import { SidePanel } from './panel/side-panel.tsx'
import { type Thread, threadQuery } from './queries.ts'
import { threadTitle } from './use-threads.ts'

const route = getRouteApi('/shell/threads/$id')
const MENU = 'thread-menu'

/** Aligned with other pages, also beside the panel. */
const FRAME = 'ml-(--page-inset) flex min-h-[calc(100dvh-3.5rem)] min-w-0 max-w-5xl flex-col lg:min-h-dvh xl:max-w-4xl'
/** Page heading that shrinks to a bar on scroll. */
const HEADER =
  'sticky top-14 z-20 flex min-h-14 items-center gap-2 border-b bg-canvas px-4 py-2 sm:px-8 lg:-top-7.5 lg:pt-9.5 low:static'

export function ThreadPage() {
  const { id } = route.useParams()
  const { data: thread, error } = useQuery(threadQuery(id))
  // The cache may still have a deleted thread.
  const there = isNotFound(error) ? undefined : thread
  const title = thread ? threadTitle(thread) : 'Thread'
  useEffect(() => {
    document.title = `${title} · Loadout`
  }, [title])
  return (
    <div className="xl:grid xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className={FRAME}>
        <header className={HEADER}>
          <Link
            to="/threads"
            aria-label="All threads"
            className="-ml-2 flex size-9 shrink-0 items-center justify-center rounded-lg text-ink-muted hover:bg-sunken hover:text-ink lg:-mr-1 lg:-ml-8 lg:size-7"
          >
            <ArrowLeft aria-hidden className="size-4" />
          </Link>
          <h1
            className="min-w-0 flex-1 truncate leading-8 font-semibold tracking-tight lg:text-lg lg:leading-8"
            title={title}
          >
            {thread || error ? title : <Skeleton className="h-5 w-40" />}
          </h1>
          {there && <ToolsSheet thread={there} />}
          {there && <ThreadMenu thread={there} />}
        </header>
        {error && (
          <div className="p-4 sm:px-8">
            {isNotFound(error) ? (
              <NotFound noun="thread" to="/threads" label="Go to threads" />
            ) : (
              <ProblemNotice error={error} />
            )}
          </div>
        )}
        {there && <Conversation key={there.id} thread={there} />}
      </div>
      <aside
        aria-label="Tools of this thread"
        className="sticky top-0 hidden h-dvh overflow-y-auto border-l bg-surface xl:block"
      >
        {there && <SidePanel thread={there} />}
      </aside>
    </div>
  )
}

/** The side panel as a sheet on narrow screens. */
function ToolsSheet({ thread }: { thread: Thread }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button size="small" className="xl:hidden" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Wrench aria-hidden /> Tools
      </Button>
      <Sheet title="Tools of this thread" open={open} onOpenChange={setOpen}>
        <SidePanel thread={thread} />
      </Sheet>
    </>
  )
}

function ThreadMenu({ thread }: { thread: Thread }) {
  const [dialog, setDialog] = useState<'rename' | 'clear' | 'delete'>()
  const navigate = useNavigate()
  const props = {
    thread,
    onClose: () => setDialog(undefined),
    onClosed: () => document.getElementById(MENU)?.focus(),
  }
  return (
    <>
      <Menu>
        <MenuTrigger asChild>
          <Button id={MENU} variant="quiet" size="icon" aria-label="Actions for this thread" className="-mr-2">
            <Ellipsis aria-hidden />
          </Button>
        </MenuTrigger>
        <MenuContent>
          <MenuItem onSelect={() => setDialog('rename')}>
            <Pencil aria-hidden /> Rename
          </MenuItem>
          <MenuItem onSelect={() => setDialog('clear')}>
            <Eraser aria-hidden /> Forget what was said
          </MenuItem>
          <MenuItem danger onSelect={() => setDialog('delete')}>
            <Trash2 aria-hidden /> Delete
          </MenuItem>
        </MenuContent>
      </Menu>
      {dialog === 'rename' && <RenameDialog {...props} />}
      {dialog === 'clear' && <ClearDialog {...props} />}
      {dialog === 'delete' && <DeleteThreadDialog {...props} onDeleted={() => navigate({ to: '/threads' })} />}
    </>
  )
}

function ClearDialog({ thread, onClose, onClosed }: { thread: Thread; onClose: () => void; onClosed: () => void }) {
  const queryClient = useQueryClient()
  const clear = useMutation({
    mutationFn: () => answer(client.api.threads[':id'].messages.$delete({ param: { id: thread.id } })),
    onSuccess: onClose,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['threads', thread.id] }),
  })
  return (
    <Confirm
      title="Forget what was said?"
      cancel="Keep it"
      confirm={clear.isPending ? 'Forgetting…' : 'Forget it'}
      busy={clear.isPending}
      onCancel={onClose}
      onConfirm={() => clear.mutate()}
      onClosed={onClosed}
    >
      <p>The messages of this thread are deleted. Its tools, programs and limits stay. This cannot be undone.</p>
      {clear.error && <ProblemNotice error={clear.error} />}
    </Confirm>
  )
}
