import { Link } from '@tanstack/react-router'
import { Ellipsis, LockKeyhole, Pencil, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Toolkit } from '../../api.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../ui/menu.tsx'
import { Switch } from '../../ui/switch.tsx'
import { addressOf, kindOf, storedSecrets } from './server-kind.tsx'
import { SignInActions, signInFact } from './sign-in-actions.tsx'
import { StateBadge, StateReason } from './toolkit-state.tsx'

export interface RowActions {
  onSwitch: (toolkit: Toolkit, enabled: boolean) => void
  onEdit: (toolkit: Toolkit) => void
  onDelete: (toolkit: Toolkit) => void
}

export const menuId = ({ uscoId }: Toolkit): string => `actions-${uscoId}`

export function ToolkitRow({ toolkit, actions }: { toolkit: Toolkit; actions: RowActions }) {
  const { icon: Icon, label } = kindOf(toolkit)
  const address = addressOf(toolkit)
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 p-4 sm:grid-cols-[auto_minmax(0,1fr)_auto_auto] sm:px-5">
      <span className="row-span-2 hidden size-9 items-center justify-center rounded-lg border bg-sunken text-ink-muted sm:flex">
        <Icon aria-hidden className="size-4" strokeWidth={1.75} />
      </span>
      <div className="flex min-h-9 min-w-0 flex-wrap items-center gap-x-2.5">
        <h3 className="min-w-0 font-medium wrap-anywhere">
          <RowName toolkit={toolkit} />
        </h3>
        <Badge>{label}</Badge>
      </div>
      <div className="col-span-2 row-start-2 flex items-center pb-1.5 sm:col-span-1 sm:col-start-3 sm:row-start-1 sm:h-9 sm:pb-0">
        <StateBadge status={toolkit.state.status} />
      </div>
      <div className="col-start-2 row-start-1 flex h-9 items-center gap-1.5 sm:col-start-4">
        <Switch
          aria-label={`Enable ${toolkit.name}`}
          checked={toolkit.enabled}
          onCheckedChange={(enabled) => actions.onSwitch(toolkit, enabled)}
        />
        {toolkit.readOnly ? <ReadOnlyMark /> : <RowMenu toolkit={toolkit} actions={actions} />}
      </div>
      <div className="col-span-2 grid min-w-0 gap-0.5 sm:col-span-3 sm:col-start-2">
        {address && (
          <p className="truncate font-mono text-[0.8125rem] text-ink-muted" title={address}>
            {address}
          </p>
        )}
        <RowFacts toolkit={toolkit} />
        <StateReason state={toolkit.state} />
        <SignInActions toolkit={toolkit} />
      </div>
    </li>
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

function RowName({ toolkit }: { toolkit: Toolkit }): ReactNode {
  if (toolkit.readOnly) return toolkit.name
  return (
    <Link
      to="/connectors"
      search={{ edit: toolkit.uscoId }}
      resetScroll={false}
      className="rounded-sm underline-offset-4 hover:underline"
    >
      {toolkit.name}
    </Link>
  )
}

function RowFacts({ toolkit }: { toolkit: Toolkit }) {
  const { toolCount, tokens, shadows } = toolkit
  const secrets = storedSecrets(toolkit)
  const facts = [
    toolCount === 0 ? 'No tools known yet' : `${counted(toolCount, 'tool')}, ${counted(tokens, 'token')}`,
    signInFact(toolkit),
    secrets > 0 && counted(secrets, 'stored secret'),
    toolkit.options.account && `Account ${toolkit.options.account}`,
    shadows && 'Used instead of the global server of the same id',
  ].filter(Boolean)
  return <p className="text-[0.8125rem] text-ink-muted">{facts.join(' · ')}</p>
}

function RowMenu({ toolkit, actions }: { toolkit: Toolkit; actions: RowActions }) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          id={menuId(toolkit)}
          variant="quiet"
          size="icon"
          aria-label={`Actions for ${toolkit.name}`}
          className="-mr-2 data-[state=open]:bg-sunken"
        >
          <Ellipsis aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent>
        <MenuItem onSelect={() => actions.onEdit(toolkit)}>
          <Pencil aria-hidden /> Edit
        </MenuItem>
        <MenuItem danger onSelect={() => actions.onDelete(toolkit)}>
          <Trash2 aria-hidden /> Delete
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

const counted = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
