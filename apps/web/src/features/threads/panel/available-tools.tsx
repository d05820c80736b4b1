import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { toolkitsQuery } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { activationsQuery, type Explained, type Loadout, loadoutQuery, threadExplainQuery } from '../queries.ts'
import { type Switched, useOnly, useResetRefs, useSwitchRef } from './use-loadout.ts'

type Kit = Loadout['toolkits'][number]

/** Toolkits of the thread and their tools, each with a switch. */
export function AvailableTools({ threadId }: { threadId: string }) {
  const { data: loadout, error } = useQuery(loadoutQuery(threadId))
  const { data: explained = [] } = useQuery(threadExplainQuery(threadId))
  const { data: activations } = useQuery(activationsQuery(threadId))
  const names = useToolkitNames()
  const change = useSwitchRef(threadId)
  const pending = change.isPending ? change.variables : undefined
  if (error && !loadout) return <ProblemNotice error={error} />
  if (!loadout) return <LoadingRows />
  if (loadout.toolkits.length === 0) return <NoToolkits />
  const own = new Map(activations?.items.map(({ ref, on }) => [ref, on]))
  return (
    <div className="grid gap-3">
      <p className="text-[0.8125rem] text-ink-muted">
        {counted(loadout.tools.length, 'tool')} carried, {counted(loadout.tokens, 'token')} if all were sent.
      </p>
      <ul className="divide-y rounded-lg border bg-raised" aria-label="Toolkits of this thread">
        {loadout.toolkits.map((kit) => (
          <KitRow
            key={`${kit.tier}-${kit.id}`}
            kit={kit}
            name={names.get(kit.id) ?? kit.id}
            tools={explained.filter(({ ref }) => ref.startsWith(`${kit.id}.`))}
            own={own}
            pending={pending}
            onSwitch={change.mutate}
          />
        ))}
      </ul>
      {activations && <Exclusive threadId={threadId} activations={activations} kits={loadout.toolkits} />}
    </div>
  )
}

function useToolkitNames(): Map<string, string> {
  const { data } = useQuery(toolkitsQuery())
  return new Map(data?.map(({ id, name }) => [id, name]))
}

interface KitRowProps {
  kit: Kit
  name: string
  tools: readonly Explained[]
  own: ReadonlyMap<string, boolean>
  pending: Switched | undefined
  onSwitch: (switched: Switched) => void
}

function KitRow({ kit, name, tools, own, pending, onSwitch }: KitRowProps) {
  const [open, setOpen] = useState(false)
  const on = pending?.ref === kit.id ? pending.on : kit.active
  return (
    <li>
      <div className="flex items-center gap-1.5 py-1.5 pr-3 pl-1">
        <Button
          variant="quiet"
          size="icon"
          className="size-8"
          aria-expanded={open}
          aria-label={`Tools of ${name}`}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight aria-hidden className={open ? 'rotate-90 transition-transform' : 'transition-transform'} />
        </Button>
        <div className="grid min-w-0 flex-1">
          <span className="truncate text-sm font-medium" title={name}>
            {name}
          </span>
          <span className="truncate text-xs text-ink-muted">
            {counted(kit.toolCount, 'tool')}
            {own.has(kit.id) && `, switched ${own.get(kit.id) ? 'on' : 'off'} here`}
          </span>
        </div>
        {kit.tier === 'app' && <Badge>Global</Badge>}
        <Switch
          aria-label={`Carry ${name}`}
          checked={on}
          onCheckedChange={(next) => onSwitch({ ref: kit.id, on: next })}
        />
      </div>
      {open && <ToolRows tools={tools} pending={pending} own={own} onSwitch={onSwitch} />}
    </li>
  )
}

const MAX_VISIBLE = 60

function ToolRows({ tools, pending, own, onSwitch }: Omit<KitRowProps, 'kit' | 'name'>) {
  const [showAll, setShowAll] = useState(false)
  if (tools.length === 0)
    return <p className="px-3 pb-3 pl-10 text-[0.8125rem] text-ink-muted">No tools are known yet.</p>
  return (
    <ul className="grid border-t bg-surface py-1">
      {(showAll ? tools : tools.slice(0, MAX_VISIBLE)).map(({ ref, included }) => {
        const tool = ref.slice(ref.indexOf('.') + 1)
        const on = pending?.ref === ref ? pending.on : included
        return (
          <li key={ref} className="flex items-center gap-2 py-1 pr-3 pl-10">
            <code className="min-w-0 flex-1 truncate font-mono text-xs" title={ref}>
              {tool}
            </code>
            {own.has(ref) && <Badge>here</Badge>}
            <Switch aria-label={`Carry ${ref}`} checked={on} onCheckedChange={(next) => onSwitch({ ref, on: next })} />
          </li>
        )
      })}
      {!showAll && tools.length > MAX_VISIBLE && (
        <li className="px-3 py-1 pl-9">
          <Button variant="quiet" size="small" onClick={() => setShowAll(true)}>
            Show all {tools.length}
          </Button>
        </li>
      )}
    </ul>
  )
}

interface ExclusiveProps {
  threadId: string
  activations: { items: Switched[]; exclusive: boolean }
  kits: readonly Kit[]
}

function Exclusive({ threadId, activations: { items, exclusive }, kits }: ExclusiveProps) {
  const only = useOnly(threadId)
  const reset = useResetRefs(threadId)
  const active = kits.filter((kit) => kit.active).map(({ id }) => id)
  return (
    <div className="grid gap-2 text-[0.8125rem] text-ink-muted">
      <p>
        {exclusive
          ? 'Only what is switched on here is carried; servers that are added later are not.'
          : 'Servers that are added later are carried too.'}
      </p>
      <div className="flex flex-wrap gap-2">
        {!exclusive && (
          <Button size="small" aria-disabled={only.isPending} onClick={() => only.mutate(active)}>
            Only these
          </Button>
        )}
        {(exclusive || items.length > 0) && (
          <Button size="small" aria-disabled={reset.isPending} onClick={() => reset.mutate(undefined)}>
            <RotateCcw aria-hidden /> Forget what was switched here
          </Button>
        )}
      </div>
    </div>
  )
}

function NoToolkits() {
  return (
    <p className="text-sm text-ink-muted">
      There are no servers yet, so there is nothing to carry.{' '}
      <Link to="/connectors" className="font-medium text-accent underline underline-offset-4">
        Add a server
      </Link>
    </p>
  )
}

function LoadingRows() {
  return (
    <div role="status" className="grid gap-2">
      <span className="sr-only">Loading what the thread carries</span>
      {['a', 'b', 'c'].map((key) => (
        <Skeleton key={key} className="h-11 w-full rounded-lg" />
      ))}
    </div>
  )
}
