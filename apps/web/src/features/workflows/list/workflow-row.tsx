import { Link, useNavigate } from '@tanstack/react-router'
import { Copy, Download, Pencil, Trash2 } from 'lucide-react'
import { Badge } from '../../../ui/data/badge.tsx'
import { counted } from '../../../ui/data/format-time.ts'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { ActionsMenu } from '../../../ui/overlay/actions-menu.tsx'
import { MenuItem } from '../../../ui/overlay/menu.tsx'
import { KIND_STYLES } from '../editor/node-kind.tsx'
import type { Run, Workflow } from '../queries.ts'
import { RunBadge } from '../runs/run-state.tsx'
import { exportDefinition } from './export-definition.ts'

export const workflowMenuId = ({ id }: Workflow): string => `actions-${id}`

interface WorkflowRowProps {
  workflow: Workflow
  lastRun: Run | undefined
  onDelete: (workflow: Workflow) => void
}

export function WorkflowRow({ workflow, lastRun, onDelete }: WorkflowRowProps) {
  const { id, name, version, definition, description, updatedAt } = workflow
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1 p-4 sm:px-5">
      <div className="flex min-h-9 min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
        <h3 className="min-w-0 font-medium wrap-anywhere">
          <Link to="/workflows/$id" params={{ id }} className="rounded-sm underline-offset-4 hover:underline">
            {name}
          </Link>
        </h3>
        <Badge>Version {version}</Badge>
        {lastRun && (
          <Link
            to="/runs/$id"
            params={{ id: lastRun.id }}
            className="flex items-center gap-2 rounded-full"
            aria-label={`Last run of ${name}: ${lastRun.status}`}
          >
            <RunBadge status={lastRun.status} />
            <TimeAgo at={lastRun.createdAt} className="text-xs text-ink-muted" />
          </Link>
        )}
      </div>
      <RowMenu workflow={workflow} onDelete={onDelete} />
      <div className="col-span-2 grid gap-1">
        {description && <p className="text-sm wrap-anywhere text-ink-muted">{description}</p>}
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-[0.8125rem] text-ink-muted">
          <KindMarks definition={definition} />
          <span>
            {counted(definition.nodes.length, 'node')} · saved <TimeAgo at={updatedAt} />
            {!lastRun && ' · not run yet'}
          </span>
        </p>
      </div>
    </li>
  )
}

const MAX_MARKS = 8

function KindMarks({ definition: { nodes } }: Pick<Workflow, 'definition'>) {
  return (
    <span aria-hidden className="flex gap-1">
      {nodes.slice(0, MAX_MARKS).map(({ id, type }) => {
        const { icon: Icon } = KIND_STYLES[type]
        return <Icon key={id} className="size-3.5 text-ink-faint" strokeWidth={1.75} />
      })}
    </span>
  )
}

function RowMenu({ workflow, onDelete }: Pick<WorkflowRowProps, 'workflow' | 'onDelete'>) {
  const navigate = useNavigate()
  const { id, name, definition } = workflow
  const open = (to: string, search = {}) => navigate({ to: '/workflows/$id', params: { id: to }, search })
  return (
    <ActionsMenu id={workflowMenuId(workflow)} of={name}>
      <MenuItem onSelect={() => open(id)}>
        <Pencil aria-hidden /> Edit
      </MenuItem>
      <MenuItem onSelect={() => open('new', { copy: id })}>
        <Copy aria-hidden /> Duplicate
      </MenuItem>
      <MenuItem onSelect={() => exportDefinition(definition)}>
        <Download aria-hidden /> Export as JSON
      </MenuItem>
      <MenuItem danger onSelect={() => onDelete(workflow)}>
        <Trash2 aria-hidden /> Delete
      </MenuItem>
    </ActionsMenu>
  )
}
