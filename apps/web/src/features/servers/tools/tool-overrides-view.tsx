/** Overridden fields of a tool, with edit and reset. */
import { ChevronRight, PenLine, Undo2 } from 'lucide-react'
import { useId, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { Button } from '../../../ui/form/button.tsx'
import { tellProblem, useOverride } from '../use-tools.ts'
import { OverrideDialog } from './override-dialog.tsx'
import { claimsOf } from './tool-badges.tsx'
import { NOTHING, presentedTool } from './tool-override.ts'

type Tool = Toolkit['tools'][number]

/** Global and custom toolkits are not overridden here. */
const mayOverride = ({ readOnly, server }: Toolkit) => !readOnly && server.type !== 'custom'

export function ToolOverrides({ toolkit, tool }: { toolkit: Toolkit; tool: Tool }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const back = useOverride()
  const { changed } = presentedTool(toolkit, tool)
  if (!mayOverride(toolkit) && changed.length === 0) return null
  const goBack = () => {
    if (!back.isPending) back.mutate({ toolkit, tool, draft: NOTHING }, { onSuccess: focus, onError: tellProblem })
  }
  const focus = () => document.getElementById(id)?.focus()
  return (
    <div className="grid gap-2">
      <ServerValues tool={tool} changed={changed} by={toolkit.readOnly ? 'The operator' : 'You'} />
      {mayOverride(toolkit) && (
        <div className="flex flex-wrap gap-2">
          <Button id={id} size="small" aria-label={`Change how models see ${tool.name}`} onClick={() => setOpen(true)}>
            <PenLine aria-hidden /> Change how models see it
          </Button>
          {changed.length > 0 && (
            <Button
              size="small"
              variant="quiet"
              aria-label={`Show ${tool.name} as its server says`}
              aria-disabled={back.isPending}
              onClick={goBack}
            >
              <Undo2 aria-hidden /> {back.isPending ? 'Going back…' : 'Back to its server’s words'}
            </Button>
          )}
        </div>
      )}
      {isOpen && <OverrideDialog toolkit={toolkit} tool={tool} onClose={() => setOpen(false)} onClosed={focus} />}
    </div>
  )
}

/** The server's own values of overridden fields. */
function ServerValues({ tool, changed, by }: { tool: Tool; changed: readonly string[]; by: string }) {
  if (changed.length === 0) return null
  const { title, description, annotations } = tool
  const facts: Array<[string, string, string]> = [
    ['title', 'Title', title ?? annotations?.title ?? 'none'],
    ['description', 'Description', description ?? 'none'],
    [
      'claims',
      'Claims',
      claimsOf(annotations)
        .map(({ label }) => label)
        .join(', '),
    ],
  ]
  return (
    <details className="group rounded-lg border bg-sunken/50 text-[0.8125rem]">
      <summary className="flex min-h-9 cursor-pointer items-center gap-1.5 rounded-lg px-2.5 text-ink-muted">
        <ChevronRight aria-hidden className="size-3.5 shrink-0 transition-transform group-open:rotate-90" />
        {by} changed its {new Intl.ListFormat('en').format(changed)}: what its server says
      </summary>
      <dl className="grid gap-x-4 gap-y-1 border-t px-3 py-2.5 sm:grid-cols-[7rem_minmax(0,1fr)]">
        {facts
          .filter(([field]) => changed.includes(field))
          .map(([field, term, text]) => (
            <div key={field} className="contents">
              <dt className="text-ink-muted">{term}</dt>
              <dd className="wrap-anywhere whitespace-pre-wrap">{text}</dd>
            </div>
          ))}
      </dl>
    </details>
  )
}
