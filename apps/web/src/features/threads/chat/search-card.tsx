import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Braces, Pin, Play } from 'lucide-react'
import { toast } from 'sonner'
import { answer, client } from '../../../lib/api.ts'
import { toastProblem } from '../../../lib/problems.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { SelectedList } from '../panel/selected-tools.tsx'
import { callText } from '../programs/program-text.ts'
import type { Selection } from '../queries.ts'
import type { SelectedTool } from './chat-message.ts'

export interface ToolSearch {
  id: string
  at: string
  prompt: string
  selection: Selection
}

interface FindCardProps {
  threadId: string
  find: ToolSearch
  /** Inserts a call of the tool into the program. */
  onUse: (call: string) => void
}

/** Tools that a model would get for the prompt, with actions. */
export function SearchCard({ threadId, find, onUse }: FindCardProps) {
  const keep = useKeepTool(threadId)
  const tools = new Map(find.selection.tools.map((tool) => [tool.ref, tool]))
  const actions = ({ ref, by }: SelectedTool) => {
    const tool = tools.get(ref)
    if (!tool || ref.startsWith('loadout.') || !tool.toolkit) return null
    return (
      <div className="-mb-0.5 -ml-2 flex flex-wrap gap-1">
        <Link
          to="/tools"
          search={{ tool: ref }}
          className="inline-flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-[0.8125rem] font-medium text-ink-muted hover:bg-sunken hover:text-ink [&_svg]:size-3.5"
        >
          <Play aria-hidden /> Try it
        </Link>
        <Button variant="quiet" size="small" onClick={() => onUse(callText(tool))}>
          <Braces aria-hidden /> Use in a program
        </Button>
        {by === 'search' && (
          <Button variant="quiet" size="small" aria-disabled={keep.isPending} onClick={() => keep.mutate(ref)}>
            <Pin aria-hidden /> Keep loaded
          </Button>
        )}
      </div>
    )
  }
  return (
    <article aria-label="Search" className="grid gap-3 rounded-xl border bg-surface p-3.5 shadow-flat [&>*]:min-w-0">
      <h2 className="text-sm font-medium wrap-anywhere">Tools for “{find.prompt}”</h2>
      <SelectedList chosen={find.selection} actions={actions} />
    </article>
  )
}

function useKeepTool(threadId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (ref: string) =>
      answer(client.api.threads[':id'].loaded.$post({ param: { id: threadId }, json: { refs: [ref], sticky: true } })),
    onSuccess: (_, ref) => toast.success(`${ref} is kept loaded`),
    onError: toastProblem,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['threads', threadId] }),
  })
}

export function useToolSearch(threadId: string, onFound: (find: ToolSearch) => void) {
  return useMutation({
    mutationFn: (prompt: string) =>
      answer(client.api.threads[':id'].resolve.$post({ param: { id: threadId }, json: { prompt, limit: 5 } })),
    onSuccess: (selection, prompt) =>
      onFound({ id: `find-${Date.now()}`, at: new Date().toISOString(), prompt, selection }),
  })
}
