import { ChevronRight, LockKeyhole } from 'lucide-react'
import type { CSSProperties } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { Badge } from '../../../ui/data/badge.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import type { RowPosition } from '../../../ui/data/long-list.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { menuId, openerId, type RowActions } from './row-actions.ts'
import { addressOf, kindOf, storedSecrets } from './server-kind.tsx'
import { ServerOutput } from './server-output.tsx'
import { SignInActions, signInEnds, signInFact } from './sign-in-actions.tsx'
import { StartProgress } from './start-progress.tsx'
import { ToolkitDetails } from './toolkit-details.tsx'
import { RowMenu } from './toolkit-menu.tsx'
import { StateBadge, StateReason } from './toolkit-state.tsx'

interface ToolkitRowProps {
  toolkit: Toolkit
  open: boolean
  actions: RowActions
  /** Selection state, in selection mode. */
  selection?: { isSelected: boolean; onSelect: (isSelected: boolean) => void } | undefined
  /** Position in a virtualized list. */
  position?: (RowPosition & { style: CSSProperties; className: string }) | undefined
}

export function ToolkitRow({ toolkit, open, actions, selection, position }: ToolkitRowProps) {
  const { icon: Icon, label } = kindOf(toolkit)
  const address = addressOf(toolkit)
  return (
    <li className="min-w-0" {...position}>
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 p-4 sm:grid-cols-[auto_minmax(0,1fr)_auto_auto] sm:px-5">
        <span className="row-span-2 hidden size-9 items-center justify-center rounded-lg border bg-sunken text-ink-muted sm:flex">
          <Icon aria-hidden className="size-4" strokeWidth={1.75} />
        </span>
        <div className="flex min-h-9 min-w-0 flex-wrap items-center gap-x-2.5">
          {selection && (
            <input
              type="checkbox"
              aria-label={`Select ${toolkit.name}`}
              checked={selection.isSelected}
              onChange={(event) => selection.onSelect(event.target.checked)}
              className="size-4 shrink-0 accent-accent"
            />
          )}
          <h3 className="min-w-0 font-medium wrap-anywhere">
            <Opener toolkit={toolkit} open={open} onOpen={(next) => actions.onOpen(toolkit, next)} />
          </h3>
          <Badge>{label}</Badge>
        </div>
        <div className="col-span-2 row-start-2 flex items-center pb-1.5 sm:col-span-1 sm:col-start-3 sm:row-start-1 sm:h-9 sm:pb-0">
          <StateBadge {...toolkit} />
        </div>
        <div className="col-start-2 row-start-1 flex h-9 items-center gap-1.5 sm:col-start-4">
          <Switch
            aria-label={`Enable ${toolkit.name}`}
            checked={toolkit.enabled}
            onCheckedChange={(enabled) => actions.onSwitch(toolkit, enabled)}
          />
          {toolkit.readOnly ? <ReadOnlyMark /> : <RowMenu id={menuId(toolkit)} toolkit={toolkit} actions={actions} />}
        </div>
        <div className="col-span-2 grid min-w-0 gap-0.5 sm:col-span-3 sm:col-start-2">
          {address && (
            <p className="truncate font-mono text-[0.8125rem] text-ink-muted" title={address}>
              {address}
            </p>
          )}
          <RowFacts toolkit={toolkit} />
          <StateReason state={toolkit.state} />
          <StartProgress toolkit={toolkit} />
          {toolkit.state.output && (
            <div className="mt-1.5">
              <ServerOutput output={toolkit.state.output} of={toolkit.name} />
            </div>
          )}
          <SignInActions toolkit={toolkit} />
        </div>
      </div>
      <div id={`inside-${toolkit.uscoId}`} hidden={!open}>
        {open && <ToolkitDetails toolkit={toolkit} />}
      </div>
    </li>
  )
}

function Opener({ toolkit, open, onOpen }: { toolkit: Toolkit; open: boolean; onOpen: (open: boolean) => void }) {
  return (
    <button
      type="button"
      id={openerId(toolkit)}
      aria-expanded={open}
      aria-controls={`inside-${toolkit.uscoId}`}
      onClick={() => onOpen(!open)}
      className="group -ml-1 flex min-h-8 items-center gap-1 rounded-md px-1 text-left"
    >
      <ChevronRight
        aria-hidden
        className={cn('size-4 shrink-0 text-ink-faint transition-transform group-hover:text-ink', open && 'rotate-90')}
      />
      <span className="min-w-0 underline-offset-4 group-hover:underline">{toolkit.name}</span>
    </button>
  )
}

function ReadOnlyMark() {
  return (
    <span className="-mr-2 flex size-9 items-center justify-center text-ink-faint" title="Read-only">
      <LockKeyhole aria-hidden className="size-3.5" />
      <span className="sr-only">Read-only</span>
    </span>
  )
}

function RowFacts({ toolkit }: { toolkit: Toolkit }) {
  const { shadows, options, tier } = toolkit
  const secrets = storedSecrets(toolkit)
  const facts = [
    toolsFact(toolkit),
    signInFact(toolkit),
    secrets > 0 && counted(secrets, 'stored secret'),
    options.account && `Account ${options.account}`,
    options.untrusted && 'Not trusted',
    options.source && `Defined in ${options.source}`,
    tier === 'app' && options.shared && 'One connection for everyone',
    shadows && 'Used instead of the global server of the same id',
  ].filter(Boolean)
  const ends = signInEnds(toolkit)
  return (
    <p className="text-[0.8125rem] text-ink-muted">
      {facts.join(' · ')}
      {ends && <strong className="font-medium text-act"> · {ends}</strong>}
    </p>
  )
}

function toolsFact({ tools, toolCount, tokens }: Toolkit): string {
  if (toolCount === 0) return 'No tools known yet'
  const on = tools.filter(({ enabled }) => enabled).length
  const cost = counted(tokens, 'token')
  return on === toolCount
    ? `${counted(toolCount, 'tool')}, ${cost}`
    : `${on.toLocaleString('en')} of ${counted(toolCount, 'tool')} on, ${cost}`
}
