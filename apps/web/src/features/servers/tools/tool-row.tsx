import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { useId } from 'react'
import { type Toolkit, toolkitQuery } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { Badge } from '../../../ui/data/badge.tsx'
import type { RowPosition } from '../../../ui/data/long-list.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import type { ToolDecision } from '../queries.ts'
import { OverriddenMark, ToolBadges } from './tool-badges.tsx'
import { ToolChange } from './tool-change.tsx'
import { ToolIcon } from './tool-icon.tsx'
import { presentedTool } from './tool-override.ts'
import { ToolOverrides } from './tool-overrides-view.tsx'
import type { Choice } from './tool-policy.ts'
import { effectiveNote, ToolPolicySelect } from './tool-policy-select.tsx'
import { ToolSchema } from './tool-schema.tsx'
import { whyFixed } from './tool-switch.ts'

type Tool = Toolkit['tools'][number]

export interface ToolRowProps {
  toolkit: Toolkit
  tool: Tool
  icons: Tool['icons']
  open: boolean
  decision: ToolDecision | undefined
  choice: Choice
  /** Whether a choice is being saved. */
  choosing: boolean
  onOpen: (open: boolean) => void
  onSwitch: (on: boolean) => void
  onChoose: (choice: Choice) => void
}

/** Position in a virtualized list. */
type Position = Omit<RowPosition, 'ref'> & Partial<Pick<RowPosition, 'ref'>>

export function ServerToolRow({ position, ...row }: ToolRowProps & { position: Position }) {
  const { open, decision, choice } = row
  const { tool, changed } = presentedTool(row.toolkit, row.tool)
  const id = useId()
  const note = effectiveNote(decision, choice)
  // Touch devices show no tooltip, so the reason is also text.
  const fixed = tool.held || !row.toolkit.enabled ? undefined : whyFixed(row.toolkit, row.tool)
  return (
    <li {...position} className="grid scroll-mt-16 gap-2 border-b py-2.5 last:border-b-0 lg:scroll-mt-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="grid min-w-0 flex-1 basis-64 gap-1">
          <button
            type="button"
            aria-expanded={open}
            aria-controls={id}
            onClick={() => row.onOpen(!open)}
            className="-ml-1 flex min-h-6 w-fit max-w-full items-start gap-1 rounded-md px-1 text-left"
          >
            <ChevronRight
              aria-hidden
              className={cn('mt-1 size-3.5 shrink-0 text-ink-faint transition-transform', open && 'rotate-90')}
            />
            <ToolIcon icons={row.icons} />
            <span
              className={cn(
                'min-w-0 font-mono text-[0.8125rem] leading-6 font-medium wrap-anywhere',
                !tool.enabled && 'text-ink-muted',
              )}
            >
              {tool.name}
            </span>
          </button>
          <p className="flex flex-wrap items-center gap-1.5 pl-4.5">
            <ReviewMark tool={tool} />
            <ToolBadges annotations={tool.annotations} />
            <OverriddenMark changed={changed} />
          </p>
          {tool.description && !open && (
            <p className="line-clamp-2 pl-4.5 text-[0.8125rem] text-ink-muted wrap-anywhere">{tool.description}</p>
          )}
          {note && <p className="pl-4.5 text-xs text-ink-muted">{note}</p>}
          {fixed && <p className="pl-4.5 text-xs text-ink-muted">{fixed}</p>}
        </div>
        <div className="flex items-center gap-3 pl-4.5 sm:pl-0">
          <ToolPolicySelect
            name={tool.name}
            decision={decision}
            choice={choice}
            busy={row.choosing}
            onChoose={row.onChoose}
          />
          <ToolSwitch {...row} />
        </div>
      </div>
      <div id={id} hidden={!open} className="grid min-w-0 gap-3 pl-4.5">
        {open && <ToolInsides {...row} />}
      </div>
    </li>
  )
}

function ReviewMark({ tool }: { tool: Tool }) {
  if (!tool.changed && !tool.held) return null
  return <Badge className="border-transparent bg-act-soft text-act">{tool.changed ? 'Changed' : 'New'}</Badge>
}

function ToolSwitch({ toolkit, tool, onSwitch }: ToolRowProps) {
  const fixed = whyFixed(toolkit, tool)
  return (
    <Switch
      aria-label={`Offer ${tool.name}`}
      title={fixed}
      checked={tool.enabled}
      disabled={fixed !== undefined}
      onCheckedChange={onSwitch}
    />
  )
}

function ToolInsides({ toolkit, tool: listed, decision }: ToolRowProps) {
  // The list has no schemas.
  const { data: whole } = useQuery(toolkitQuery(toolkit.uscoId))
  const tool = whole?.tools.find(({ name }) => name === listed.name) ?? listed
  const { tool: presented } = presentedTool(toolkit, tool)
  const facts: Array<[term: string, text: string | undefined]> = [
    ['Title', presented.title ?? presented.annotations?.title],
    ['Ref', tool.ref],
    ['The model sees', tool.modelName],
    [
      'A call now',
      decision &&
        `${decision.decision === 'deny' ? 'is blocked' : decision.decision === 'ask' ? 'is asked about' : 'is allowed'}. ${decision.reason}`,
    ],
  ]
  return (
    <>
      {presented.description && (
        <p className="text-[0.8125rem] text-ink-muted wrap-anywhere">{presented.description}</p>
      )}
      <ToolChange toolkit={toolkit} tool={tool} />
      <dl className="grid gap-x-4 gap-y-1 text-[0.8125rem] sm:grid-cols-[8rem_minmax(0,1fr)]">
        {facts.map(([term, text]) =>
          text ? (
            <div key={term} className="contents">
              <dt className="text-ink-muted">{term}</dt>
              <dd
                className={cn(
                  'wrap-anywhere',
                  (term === 'Ref' || term === 'The model sees') && 'font-mono text-xs leading-5',
                )}
              >
                {text}
              </dd>
            </div>
          ) : null,
        )}
      </dl>
      <ToolOverrides toolkit={toolkit} tool={tool} />
      <ToolSchema tool={tool} />
    </>
  )
}
