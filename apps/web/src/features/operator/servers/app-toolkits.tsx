import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pencil, Plus, Server, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { Empty } from '../../../ui/data/empty.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { Notice } from '../../../ui/data/notice.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { ActionsMenu } from '../../../ui/overlay/actions-menu.tsx'
import { MenuItem } from '../../../ui/overlay/menu.tsx'
import { addressOf, kindOf } from '../../servers/list/server-kind.tsx'
import { StateBadge, StateReason } from '../../servers/list/toolkit-state.tsx'
import { type AppToolkit, appToolkitsQuery } from '../queries.ts'
import { Loading, Section } from '../section.tsx'
import { useSwitchAppToolkit } from '../system/use-app.ts'
import { AppToolkitDialog } from './app-toolkit-dialog.tsx'
import { DeleteAppToolkit } from './delete-app-toolkit.tsx'

const route = getRouteApi('/shell/operator')
const ADD = 'add-global-server'
const menuId = ({ uscoId }: AppToolkit) => `actions-${uscoId}`

/** Global servers. Servers from the database are editable; servers from files and code are read-only. */
export function AppToolkits() {
  const { data, error } = useQuery(appToolkitsQuery())
  const { server } = route.useSearch()
  const navigate = route.useNavigate()
  const [deleting, setDeleting] = useState<AppToolkit>()
  const open = (which: string | undefined) =>
    navigate({ search: (old) => ({ ...old, server: which }), resetScroll: false, replace: which === undefined })
  const edited = data?.toolkits.find(({ uscoId }) => uscoId === server)
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading global servers" />
  return (
    <Section
      title="Global servers"
      note="Everyone has these. Users can switch them off for themselves, and nothing more."
      actions={
        <Button id={ADD} variant="primary" onClick={() => open('new')}>
          <Plus aria-hidden /> Add global server
        </Button>
      }
    >
      {data.problems.map(({ source, entry, line, message }) => (
        <Notice
          key={`${source} ${entry} ${line} ${message}`}
          title={`${source}${line === undefined ? '' : `, line ${line}`}`}
          detail={entry ? `${entry}: ${message}` : message}
          action="Mend the file; it is read again as it changes."
        />
      ))}
      {data.toolkits.length === 0 ? (
        <Empty icon={Server} title="No global servers">
          <p>A server that is added here is there for every user at once, with a connection for each of them.</p>
        </Empty>
      ) : (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
          {data.toolkits.map((toolkit) => (
            <Row
              key={toolkit.uscoId}
              toolkit={toolkit}
              onEdit={() => open(toolkit.uscoId)}
              onDelete={() => setDeleting(toolkit)}
            />
          ))}
        </ul>
      )}
      {(server === 'new' || edited) && (
        <AppToolkitDialog
          key={server}
          toolkit={edited}
          others={data.toolkits.filter((other) => other !== edited)}
          onClose={() => open(undefined)}
          onClosed={() => document.getElementById(edited ? menuId(edited) : ADD)?.focus()}
        />
      )}
      {deleting && (
        <DeleteAppToolkit
          toolkit={deleting}
          onClose={() => setDeleting(undefined)}
          onClosed={() => (document.getElementById(menuId(deleting)) ?? document.getElementById(ADD))?.focus()}
        />
      )}
    </Section>
  )
}

interface RowProps {
  toolkit: AppToolkit
  onEdit: () => void
  onDelete: () => void
}

function Row({ toolkit, onEdit, onDelete }: RowProps) {
  const { icon: Icon, label } = kindOf(toolkit)
  const { mutate: switchToolkit } = useSwitchAppToolkit()
  const isElsewhere = toolkit.source !== undefined
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4 gap-y-1 p-4 sm:px-5">
      <div className="flex min-h-9 min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
        <Icon aria-hidden className="size-4 text-ink-muted" strokeWidth={1.75} />
        <h3 className="min-w-0 font-medium wrap-anywhere">{toolkit.name}</h3>
        <Badge>{label}</Badge>
        {toolkit.options.shared && <Badge>shared connection</Badge>}
        {toolkit.options.untrusted && <Badge>not trusted</Badge>}
        <StateBadge {...toolkit} />
      </div>
      <div className="flex h-9 items-center gap-1.5">
        {!isElsewhere && (
          <>
            <Switch
              aria-label={`Enable ${toolkit.name} for everyone`}
              checked={toolkit.enabled}
              onCheckedChange={(enabled) => switchToolkit({ toolkit, enabled })}
            />
            <RowMenu toolkit={toolkit} onEdit={onEdit} onDelete={onDelete} />
          </>
        )}
      </div>
      <div className="col-span-2 grid min-w-0 gap-0.5 text-[0.8125rem] text-ink-muted">
        {addressOf(toolkit) && <p className="truncate font-mono">{addressOf(toolkit)}</p>}
        <p>
          {counted(toolkit.toolCount, 'tool')}, {counted(toolkit.tokens, 'token')}
          {isElsewhere && ` · defined in ${toolkit.source}, and changed there`}
        </p>
        <StateReason state={toolkit.state} />
      </div>
    </li>
  )
}

function RowMenu({ toolkit, onEdit, onDelete }: RowProps) {
  return (
    <ActionsMenu id={menuId(toolkit)} of={toolkit.name}>
      <MenuItem onSelect={onEdit}>
        <Pencil aria-hidden /> Edit
      </MenuItem>
      <MenuItem danger onSelect={onDelete}>
        <Trash2 aria-hidden /> Delete
      </MenuItem>
    </ActionsMenu>
  )
}
