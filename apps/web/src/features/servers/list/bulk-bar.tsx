import { Power, PowerOff, RefreshCw, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { counted } from '../../../ui/data/format-time.ts'
import { Button } from '../../../ui/form/button.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { type Bulk, type BulkAction, selectTargets } from './use-bulk.ts'

interface BulkBarProps {
  /** The toolkits that match the filter. */
  visible: readonly Toolkit[]
  selected: readonly Toolkit[]
  bulk: Bulk
  onSelect: (uscoIds: readonly string[]) => void
  onDone: () => void
}

export const BULK_BAR = 'bulk-actions'

const ACTIONS: ReadonlyArray<{ action: BulkAction; label: string; icon: ReactNode }> = [
  { action: 'on', label: 'Turn on', icon: <Power aria-hidden /> },
  { action: 'off', label: 'Turn off', icon: <PowerOff aria-hidden /> },
  { action: 'refresh', label: 'Refresh tools', icon: <RefreshCw aria-hidden /> },
  { action: 'delete', label: 'Delete', icon: <Trash2 aria-hidden /> },
]

/** Actions on all selected servers. */
export function BulkBar({ visible, selected, bulk, onSelect, onDone }: BulkBarProps) {
  const [isAsking, setAsking] = useState(false)
  const isAll = selected.length === visible.length
  const start = (action: BulkAction) => {
    if (bulk.progress !== undefined || selectTargets(action, selected).length === 0) return
    if (action === 'delete') setAsking(true)
    else void bulk.run(action, selected)
  }
  const deleted = selectTargets('delete', selected)
  return (
    <section
      id={BULK_BAR}
      tabIndex={-1}
      aria-label="Selected servers"
      className="sticky top-14 z-10 flex flex-wrap items-center gap-2 rounded-xl border bg-raised p-2.5 shadow-raised focus:outline-none lg:top-3"
    >
      <p role="status" className="min-w-28 flex-1 px-1 text-sm font-medium tabular-nums">
        {bulk.progress ?? `${counted(selected.length, 'server')} selected`}
      </p>
      <Button size="small" variant="quiet" onClick={() => onSelect(isAll ? [] : visible.map(({ uscoId }) => uscoId))}>
        {isAll ? 'Select none' : `Select all ${visible.length}`}
      </Button>
      {ACTIONS.map(({ action, label, icon }) => (
        <Button
          key={action}
          size="small"
          aria-disabled={bulk.progress !== undefined || selectTargets(action, selected).length === 0}
          onClick={() => start(action)}
        >
          {icon} {label}
        </Button>
      ))}
      <Button size="small" variant="quiet" onClick={onDone}>
        Done
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete ${counted(deleted.length, 'server')}?`}
          cancel="Cancel"
          confirm={`Delete ${counted(deleted.length, 'server')}`}
          onCancel={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false)
            void bulk.run('delete', selected).then(() => onSelect([]))
          }}
          onClosed={() => document.getElementById(BULK_BAR)?.focus()}
        >
          <p className="wrap-anywhere">{namesOf(deleted)}</p>
          <p>Their tools and stored secrets are deleted too. This cannot be undone.</p>
        </Confirm>
      )}
    </section>
  )
}

const MAX_NAMES = 12

function namesOf(toolkits: readonly Toolkit[]): string {
  const more = toolkits.length > MAX_NAMES ? ` and ${toolkits.length - MAX_NAMES} more` : ''
  const names = toolkits.slice(0, MAX_NAMES).map(({ name }) => name)
  return `${names.join(', ')}${more}`
}
