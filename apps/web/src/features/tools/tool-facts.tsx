/** Facts of a tool: names, cost, availability and policy decision. */
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleHelp, CircleSlash, CircleX, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { cn } from '../../ui/cn.ts'
import { CopyButton } from '../../ui/data/copy-button.tsx'
import { type ExplainedTool, toolDecisionsQuery } from './queries.ts'
import type { LocatedTool } from './tool-rows.ts'

interface FactsProps {
  located: LocatedTool
  explained: ExplainedTool | undefined
}

export function ToolFacts({ located: { toolkit, tool }, explained }: FactsProps) {
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-1 text-sm sm:grid-cols-[auto_minmax(0,1fr)] sm:gap-y-2">
      <Fact name="Name for the model">
        <span className="-my-1 flex items-center gap-1">
          <code className="font-mono text-[0.8125rem] wrap-anywhere">{tool.modelName}</code>
          <CopyButton label="Copy the name that the model sees" text={() => tool.modelName} />
        </span>
      </Fact>
      <Fact name="Cost">
        {explained ? `${explained.tokens.toLocaleString('en')} tokens in a model’s context` : '…'}
      </Fact>
      <Fact name="State">
        <Availability located={{ toolkit, tool }} explained={explained} />
      </Fact>
      <Fact name="A call">
        <Decision toolkit={toolkit.id} ref_={tool.ref} />
      </Fact>
    </dl>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="pt-1 text-ink-muted sm:py-0.5">{name}</dt>
    <dd className="min-w-0 py-0.5">{children}</dd>
  </>
)

const OWNER_LABELS: Partial<Record<string, string>> = {
  user: 'It is a tool of one of your servers.',
  app: 'It is a tool of one of the global servers.',
}

function Availability({ located: { tool }, explained }: FactsProps) {
  if (!explained) return '…'
  const against = explained.reasons.filter(({ speaks }) => speaks === 'against')
  const reasons = explained.included ? explained.reasons : against
  return (
    <div className="grid gap-0.5">
      {explained.included ? (
        <Mark icon={CircleCheck} className="text-good">
          On
        </Mark>
      ) : (
        <Mark icon={CircleSlash} className="text-ink-muted">
          Off
        </Mark>
      )}
      {reasons.map(({ kind, tier, detail }) => (
        <p key={`${kind}-${detail}`} className="text-[0.8125rem] wrap-anywhere text-ink-muted">
          {(kind === 'tier' && tier && OWNER_LABELS[tier]) || detail}
        </p>
      ))}
      {tool.held && <p className="text-[0.8125rem] text-ink-muted">{tool.held}</p>}
    </div>
  )
}

const DECIDED: Record<string, { label: string; icon: LucideIcon; className: string }> = {
  allow: { label: 'Is allowed', icon: CircleCheck, className: 'text-good' },
  ask: { label: 'Asks you first', icon: CircleHelp, className: 'text-act' },
  deny: { label: 'Is denied', icon: CircleX, className: 'text-bad' },
}

function Decision({ toolkit, ref_ }: { toolkit: string; ref_: string }) {
  const { data } = useQuery(toolDecisionsQuery(toolkit))
  const found = data?.find(({ ref }) => ref === ref_)
  const look = found && DECIDED[found.decision]
  if (!found || !look) return data ? 'Nothing is decided of it.' : '…'
  return (
    <div className="grid gap-0.5">
      <Mark icon={look.icon} className={look.className}>
        {look.label}
      </Mark>
      <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">{found.reason}</p>
    </div>
  )
}

function Mark({ icon: Icon, className, children }: { icon: LucideIcon; className: string; children: string }) {
  return (
    <span className={cn('inline-flex items-center gap-1.5 font-medium', className)}>
      <Icon aria-hidden className="size-4" /> {children}
    </span>
  )
}
