import { Pencil, RefreshCw, RotateCw, Trash2 } from 'lucide-react'
import type { Toolkit } from '../../../lib/api.ts'
import { ActionsMenu } from '../../../ui/overlay/actions-menu.tsx'
import { MenuItem } from '../../../ui/overlay/menu.tsx'
import { useRefreshTools } from '../use-tools.ts'
import type { RowActions } from './row-actions.ts'

interface RowMenuProps {
  id: string
  toolkit: Toolkit
  actions: Pick<RowActions, 'onEdit' | 'onDelete'>
}

export function RowMenu({ id, toolkit, actions }: RowMenuProps) {
  const refresh = useRefreshTools()
  const hasServer = toolkit.server.type !== 'custom'
  return (
    <ActionsMenu id={id} of={toolkit.name}>
      <MenuItem onSelect={() => actions.onEdit(toolkit)}>
        <Pencil aria-hidden /> Edit
      </MenuItem>
      {toolkit.enabled && (
        <MenuItem onSelect={() => refresh.mutate({ toolkit, reconnect: false })}>
          <RefreshCw aria-hidden /> Refresh tools
        </MenuItem>
      )}
      {toolkit.enabled && hasServer && (
        <MenuItem onSelect={() => refresh.mutate({ toolkit, reconnect: true })}>
          <RotateCw aria-hidden /> Reconnect
        </MenuItem>
      )}
      <MenuItem danger onSelect={() => actions.onDelete(toolkit)}>
        <Trash2 aria-hidden /> Delete
      </MenuItem>
    </ActionsMenu>
  )
}
