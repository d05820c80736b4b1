import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Bot } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { usePendingApprovals } from '../../approvals/queries.ts'
import { ModelDialog } from '../model/model-dialog.tsx'
import { NoModel } from '../model/no-model.tsx'
import { useModel } from '../model/use-model.ts'
import { useProgram } from '../programs/use-program.ts'
import { type Thread, threadRunsQuery } from '../queries.ts'
import type { Mode } from '../thread-search.ts'
import { useChangeThread } from '../use-threads.ts'
import { Composer } from './composer.tsx'
import { type ToolSearch, useToolSearch } from './search-card.tsx'
import { timelineOf } from './timeline.ts'
import { TimelineView } from './timeline-view.tsx'
import { useDraft } from './use-draft.ts'
import { useThreadChat } from './use-thread-chat.ts'

const route = getRouteApi('/shell/threads/$id')
const MODEL_BUTTON = 'choose-model'

/** Timeline and composer of a thread. */
export function Conversation({ thread }: { thread: Thread }) {
  const model = useModel()
  const chat = useThreadChat(thread.id, model.options)
  const program = useProgram(thread.id)
  const [finds, setFinds] = useState<readonly ToolSearch[]>([])
  const find = useToolSearch(thread.id, (search) => setFinds((old) => [...old, search]))
  const { mode, setMode, isChosen } = useMode(model.state.status === 'missing')
  const [texts, setTexts] = useTexts(thread.id)
  const [choosing, setChoosing] = useState(false)
  const entitle = useFirstTitle(thread)
  const approvals = usePending(thread.id)
  const entries = useEntries(thread.id, chat, finds)

  const send = () => {
    const text = texts[mode].trim()
    entitle(text)
    const sent = () => setTexts(mode, '')
    if (mode === 'find') return find.mutate(text, { onSuccess: sent })
    // The program text stays, because it is edited in turns.
    if (mode === 'program') return program.start.mutate(text)
    sent()
    return void chat.say(text)
  }
  const use = (call: string) => {
    setTexts('program', [texts.program.trim(), `return ${call}`].filter(Boolean).join('\n'))
    setMode('program')
  }
  // The composer waits until the model is known.
  const blocked =
    mode === 'ask' && model.state.status === 'missing' ? (
      <NoModel state={model.state} onChoose={() => setChoosing(true)} />
    ) : model.isPending && !isChosen ? (
      <Skeleton className="h-10 w-full rounded-lg" />
    ) : null
  return (
    <>
      <TimelineView
        threadId={thread.id}
        entries={entries}
        chat={chat}
        approvals={approvals}
        mode={mode}
        startedRuns={program.startedRuns}
        problem={mode === 'find' ? find.error : mode === 'program' ? program.start.error : undefined}
        onUse={use}
      />
      <Composer
        mode={mode}
        blocked={blocked}
        onMode={setMode}
        text={texts[mode]}
        onText={(text) => setTexts(mode, text)}
        onSend={send}
        onStop={mode === 'ask' && chat.isBusy ? chat.stop : undefined}
        isBusy={{ ask: chat.isBusy, find: find.isPending, program: program.start.isPending }[mode]}
        beside={mode === 'ask' && model.models && <ModelButton model={model} onOpen={() => setChoosing(true)} />}
      />
      {choosing && model.models && (
        <ModelDialog
          models={model.models}
          options={model.options}
          onChoose={(options) => {
            model.choose(options)
            setMode('ask')
          }}
          onClose={() => setChoosing(false)}
          onClosed={() => document.getElementById(MODEL_BUTTON)?.focus()}
        />
      )}
    </>
  )
}

function useMode(hasNoModel: boolean) {
  const { mode: requestedMode } = route.useSearch()
  const navigate = route.useNavigate()
  const mode: Mode = requestedMode ?? (hasNoModel ? 'find' : 'ask')
  const setMode = (next: Mode) => {
    navigate({ search: { mode: next }, replace: true, resetScroll: false })
  }
  return { mode, setMode, isChosen: requestedMode !== undefined }
}

function useTexts(threadId: string) {
  const [ask, setAsk] = useDraft(`${threadId} ask`)
  const [find, setFind] = useDraft(`${threadId} find`)
  const [program, setProgram] = useDraft(`${threadId} program`)
  const set = { ask: setAsk, find: setFind, program: setProgram }
  return [{ ask, find, program }, (mode: Mode, text: string) => set[mode](text)] as const
}

/** The first message becomes the title of an untitled thread. */
function useFirstTitle(thread: Thread) {
  const { mutate } = useChangeThread(thread.id)
  return (text: string) => {
    const [line = ''] = text.split('\n', 1)
    if (thread.title === '' && line) mutate({ title: line.length > 60 ? `${line.slice(0, 59)}…` : line })
  }
}

function usePending(threadId: string) {
  const { approvals } = usePendingApprovals()
  return useMemo(
    () =>
      new Map(
        approvals.filter((approval) => approval.threadId === threadId).map((approval) => [approval.id, approval]),
      ),
    [approvals, threadId],
  )
}

function useEntries(threadId: string, chat: ReturnType<typeof useThreadChat>, finds: readonly ToolSearch[]) {
  const { data: runs = [] } = useQuery(threadRunsQuery(threadId))
  const seen = useRef(new Map<string, string>())
  const seenAt = (id: string) => {
    const at = seen.current.get(id) ?? new Date().toISOString()
    seen.current.set(id, at)
    return at
  }
  return timelineOf({ messages: chat.messages, runs, finds, seenAt, hasOlder: chat.history.hasNextPage })
}

function ModelButton({ model, onOpen }: { model: ReturnType<typeof useModel>; onOpen: () => void }) {
  const { state, options } = model
  return (
    <Button id={MODEL_BUTTON} variant="quiet" size="small" className="min-w-0 shrink" onClick={onOpen}>
      <Bot aria-hidden />
      <span className="truncate font-mono text-xs">{'model' in state ? state.model : 'Choose a model'}</span>
      {options.programs && <span className="shrink-0 text-xs text-ink-faint">with programs</span>}
    </Button>
  )
}
